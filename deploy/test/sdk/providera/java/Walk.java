import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import net.authorize.Environment;
import net.authorize.api.contract.v1.*;
import net.authorize.api.controller.AuthenticateTestController;
import net.authorize.api.controller.CreateCustomerPaymentProfileController;
import net.authorize.api.controller.CreateCustomerProfileController;
import net.authorize.api.controller.CreateCustomerProfileTransactionController;
import net.authorize.api.controller.CreateTransactionController;
import net.authorize.api.controller.DeleteCustomerPaymentProfileController;
import net.authorize.api.controller.DeleteCustomerProfileController;
import net.authorize.api.controller.GetBatchStatisticsController;
import net.authorize.api.controller.GetCustomerPaymentProfileListController;
import net.authorize.api.controller.GetCustomerProfileController;
import net.authorize.api.controller.GetMerchantDetailsController;
import net.authorize.api.controller.GetSettledBatchListController;
import net.authorize.api.controller.GetTransactionDetailsController;
import net.authorize.api.controller.GetTransactionListController;
import net.authorize.api.controller.GetTransactionListForCustomerController;
import net.authorize.api.controller.GetUnsettledTransactionListController;
import net.authorize.api.controller.UpdateCustomerPaymentProfileController;
import net.authorize.api.controller.base.ApiOperationBase;

/**
 * The official Java client as a merchant uses it. It reads one request a line, a flat JSON object, and executes it.
 * It prints the fields of the response that the client read, as another object. steps.json in the folder above has the
 * requests and the expected responses.
 */
final class Walk {
  private static final String BASE = System.getenv("SDK_GATEWAY").replace("/xml/v1/request.api", "");

  public static void main(String[] args) throws Exception {
    ApiOperationBase.setEnvironment(Environment.createEnvironment(BASE, BASE));
    ObjectMapper json = new ObjectMapper();
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(json.writeValueAsString(execute(json.readValue(line, Values.class))));
    }
  }

  /** Values are the requested and the read values, by name; a missing one is null. */
  static final class Values extends LinkedHashMap<String, String> {
    Values with(String name, Object value) {
      if (value != null) {
        put(name, value.toString());
      }
      return this;
    }
  }

  private static Values execute(Values r) {
    switch (r.get("method")) {
      case "login":
        return login(r);
      case "transaction":
        return transaction(r);
      case "details":
        return details(r);
      case "unsettled":
        return unsettled(r);
      case "batches":
        return batches(r);
      case "batch":
        return batch(r);
      case "settled":
        return settled(r);
      case "customer":
        return customer(r);
      case "merchant":
        return merchant(r);
      case "read-profile":
        return readProfile(r);
      case "delete-profile":
        return deleteProfile(r);
      case "add-card":
        return addCard(r);
      case "renew-card":
        return renewCard(r);
      case "delete-card":
        return deleteCard(r);
      case "by-profile":
        return byProfile(r);
      case "expiring":
        return expiring(r);
      default:
        return profile(r);
    }
  }

  private static <Q extends ANetApiRequest> Q prepared(Q request, Values r) {
    MerchantAuthenticationType credentials = new MerchantAuthenticationType();
    credentials.setName(r.get("login"));
    credentials.setTransactionKey(r.get("key"));
    request.setMerchantAuthentication(credentials);
    request.setRefId(r.get("ref_id"));
    return request;
  }

  /** envelope reads the common part of every response, from the method's own type or from an ErrorResponse. */
  private static Values envelope(Values r, ApiOperationBase<?, ?> controller) {
    ANetApiResponse answer = controller.getApiResponse();
    if (answer == null) {
      answer = controller.getErrorResponse();
    }
    MessagesType messages = answer.getMessages();
    return new Values().with("step", r.get("step")).with("ref_id", answer.getRefId()).with("result", messages.getResultCode().value())
        .with("code", messages.getMessage().get(0).getCode()).with("text", messages.getMessage().get(0).getText());
  }

  private static Values login(Values r) {
    AuthenticateTestController controller = new AuthenticateTestController(prepared(new AuthenticateTestRequest(), r));
    controller.execute();
    return envelope(r, controller);
  }

  private static PaymentType payment(Values r) {
    PaymentType payment = new PaymentType();
    if (r.containsKey("routing")) {
      BankAccountType bank = new BankAccountType();
      bank.setAccountType(BankAccountTypeEnum.CHECKING);
      bank.setRoutingNumber(r.get("routing"));
      bank.setAccountNumber(r.get("account"));
      bank.setNameOnAccount("Ana Ruiz");
      payment.setBankAccount(bank);
      return payment;
    }
    if (!r.containsKey("number")) {
      return null;
    }
    CreditCardType card = new CreditCardType();
    card.setCardNumber(r.get("number"));
    card.setExpirationDate(r.get("expiry"));
    card.setCardCode(r.get("code"));
    payment.setCreditCard(card);
    return payment;
  }

  private static CustomerAddressType address(Values r) {
    CustomerAddressType billTo = new CustomerAddressType();
    billTo.setFirstName("Ana");
    billTo.setLastName("W\u00e5hlin");
    billTo.setAddress("1 Elm St");
    billTo.setCity("Bellevue");
    billTo.setState("WA");
    billTo.setZip(r.get("zip"));
    billTo.setCountry("USA");
    return billTo;
  }

  private static TransactionRequestType request(Values r) {
    TransactionRequestType t = new TransactionRequestType();
    t.setTransactionType(r.get("type"));
    if (r.containsKey("amount")) {
      t.setAmount(new BigDecimal(r.get("amount")));
    }
    t.setPayment(payment(r));
    t.setProfile(profileOf(r));
    t.setAuthCode(r.get("auth_code"));
    t.setRefTransId(r.get("ref_trans_id"));
    t.setSplitTenderId(r.get("split_tender"));
    if (r.containsKey("merchant_customer")) {
      CustomerDataType customer = new CustomerDataType();
      customer.setId(r.get("merchant_customer"));
      customer.setEmail(r.get("email"));
      t.setCustomer(customer);
    }
    if (r.containsKey("invoice")) {
      OrderType order = new OrderType();
      order.setInvoiceNumber(r.get("invoice"));
      order.setDescription("two mugs");
      t.setOrder(order);
    }
    if (r.containsKey("zip")) {
      t.setBillTo(address(r));
    }
    ArrayOfSetting settings = new ArrayOfSetting();
    add(settings, "duplicateWindow", r.get("window"));
    add(settings, "allowPartialAuth", r.get("partial"));
    if (!settings.getSetting().isEmpty()) {
      t.setTransactionSettings(settings);
    }
    return t;
  }

  private static void add(ArrayOfSetting settings, String name, String value) {
    if (value != null) {
      SettingType setting = new SettingType();
      setting.setSettingName(name);
      setting.setSettingValue(value);
      settings.getSetting().add(setting);
    }
  }

  /** profileOf returns the stored profile that a transaction charges, or the request to create one. */
  private static CustomerProfilePaymentType profileOf(Values r) {
    CustomerProfilePaymentType profile = new CustomerProfilePaymentType();
    if (r.containsKey("create_profile")) {
      profile.setCreateProfile(true);
      return profile;
    }
    if (!r.containsKey("customer_profile")) {
      return null;
    }
    PaymentProfile paymentProfile = new PaymentProfile();
    paymentProfile.setPaymentProfileId(r.get("payment_profile"));
    profile.setCustomerProfileId(r.get("customer_profile"));
    profile.setPaymentProfile(paymentProfile);
    profile.setShippingProfileId(r.get("shipping_profile"));
    return profile;
  }

  private static Values transaction(Values r) {
    CreateTransactionRequest request = prepared(new CreateTransactionRequest(), r);
    request.setTransactionRequest(request(r));
    CreateTransactionController controller = new CreateTransactionController(request);
    controller.execute();
    Values line = envelope(r, controller);
    CreateTransactionResponse answer = controller.getApiResponse();
    if (answer == null || answer.getTransactionResponse() == null) {
      return line;
    }
    TransactionResponse t = answer.getTransactionResponse();
    if (t.getErrors() != null) {
      line.with("reason", t.getErrors().getError().get(0).getErrorCode());
    } else if (t.getMessages() != null) {
      line.with("reason", t.getMessages().getMessage().get(0).getCode());
    }
    line.with("response_code", t.getResponseCode()).with("trans_id", t.getTransId()).with("ref_trans_id", t.getRefTransID())
        .with("auth_code", t.getAuthCode()).with("avs", t.getAvsResultCode()).with("cvv", t.getCvvResultCode())
        .with("cavv", t.getCavvResultCode()).with("account_number", t.getAccountNumber()).with("account_type", t.getAccountType())
        .with("network_trans_id", t.getNetworkTransId()).with("split_tender", t.getSplitTenderId());
    if (t.getPrePaidCard() != null) {
      line.with("requested", t.getPrePaidCard().getRequestedAmount()).with("approved", t.getPrePaidCard().getApprovedAmount())
          .with("balance", t.getPrePaidCard().getBalanceOnCard());
    }
    if (t.getSplitTenderPayments() != null) {
      line.with("tenders", t.getSplitTenderPayments().getSplitTenderPayment().size());
    }
    readMade(line, answer.getProfileResponse());
    return readIDs(line, t.getProfile());
  }

  /** readMade reads the profile that a payment created. */
  private static void readMade(Values line, CreateProfileResponse made) {
    if (made != null) {
      line.with("made_code", made.getMessages().getMessage().get(0).getCode()).with("made_profile", made.getCustomerProfileId())
          .with("made_payment", first(made.getCustomerPaymentProfileIdList()));
    }
  }

  /** readIDs reads the numbers of the stored profile that paid. */
  private static Values readIDs(Values line, CustomerProfileIdType ids) {
    if (ids == null) {
      return line;
    }
    return line.with("customer_profile", ids.getCustomerProfileId()).with("payment_profile", ids.getCustomerPaymentProfileId())
        .with("shipping_profile", ids.getCustomerAddressId());
  }

  private static String first(ArrayOfNumericString list) {
    return list == null || list.getNumericString().isEmpty() ? null : list.getNumericString().get(0);
  }

  private static Values details(Values r) {
    GetTransactionDetailsRequest request = prepared(new GetTransactionDetailsRequest(), r);
    request.setTransId(r.get("trans_id"));
    GetTransactionDetailsController controller = new GetTransactionDetailsController(request);
    controller.execute();
    Values line = envelope(r, controller);
    GetTransactionDetailsResponse answer = controller.getApiResponse();
    if (answer == null || answer.getTransaction() == null) {
      return line;
    }
    TransactionDetailsType t = answer.getTransaction();
    CreditCardMaskedType card = t.getPayment().getCreditCard();
    BankAccountMaskedType bank = t.getPayment().getBankAccount();
    line.with("trans_id", t.getTransId()).with("ref_trans_id", t.getRefTransId()).with("status", t.getTransactionStatus())
        .with("type", t.getTransactionType()).with("response_code", t.getResponseCode()).with("reason", t.getResponseReasonCode())
        .with("auth_code", t.getAuthCode()).with("avs", t.getAVSResponse()).with("cvv", t.getCardCodeResponse())
        .with("auth_amount", t.getAuthAmount().toPlainString()).with("settle_amount", t.getSettleAmount().toPlainString())
        .with("account_number", card != null ? card.getCardNumber() : bank.getAccountNumber())
        .with("account_type", card != null ? card.getCardType() : "eCheck").with("split_tender", t.getSplitTenderId())
        .with("requested", t.getRequestedAmount()).with("balance", t.getPrepaidBalanceRemaining())
        .with("batch", t.getBatch() != null ? t.getBatch().getBatchId() : null);
    return readIDs(line, t.getProfile());
  }

  private static Values unsettled(Values r) {
    GetUnsettledTransactionListRequest request = prepared(new GetUnsettledTransactionListRequest(), r);
    request.setSorting(newestFirst());
    request.setPaging(wholePage());
    GetUnsettledTransactionListController controller = new GetUnsettledTransactionListController(request);
    controller.execute();
    GetUnsettledTransactionListResponse answer = controller.getApiResponse();
    Values line = envelope(r, controller);
    return answer == null ? line : rows(line, r, answer.getTransactions(), answer.getTotalNumInResultSet());
  }

  private static Values settled(Values r) {
    GetTransactionListRequest request = prepared(new GetTransactionListRequest(), r);
    request.setBatchId(r.get("batch"));
    request.setSorting(newestFirst());
    request.setPaging(wholePage());
    GetTransactionListController controller = new GetTransactionListController(request);
    controller.execute();
    GetTransactionListResponse answer = controller.getApiResponse();
    Values line = envelope(r, controller);
    return answer == null ? line : rows(line, r, answer.getTransactions(), answer.getTotalNumInResultSet());
  }

  private static Values customer(Values r) {
    GetTransactionListForCustomerRequest request = prepared(new GetTransactionListForCustomerRequest(), r);
    request.setCustomerProfileId(r.get("customer_profile"));
    request.setSorting(newestFirst());
    request.setPaging(wholePage());
    GetTransactionListForCustomerController controller = new GetTransactionListForCustomerController(request);
    controller.execute();
    GetTransactionListResponse answer = controller.getApiResponse();
    Values line = envelope(r, controller);
    return answer == null ? line : rows(line, r, answer.getTransactions(), answer.getTotalNumInResultSet());
  }

  private static TransactionListSorting newestFirst() {
    TransactionListSorting sorting = new TransactionListSorting();
    sorting.setOrderBy(TransactionListOrderFieldEnum.SUBMIT_TIME_UTC);
    sorting.setOrderDescending(true);
    return sorting;
  }

  private static Paging wholePage() {
    Paging paging = new Paging();
    paging.setLimit(1000);
    paging.setOffset(1);
    return paging;
  }

  /** rows reads the row of the requested transaction, or the first one. */
  private static Values rows(Values line, Values r, ArrayOfTransactionSummaryType list, Integer total) {
    if (list == null) {
      return line;
    }
    for (TransactionSummaryType row : list.getTransaction()) {
      if (r.getOrDefault("trans_id", row.getTransId()).equals(row.getTransId())) {
        return line.with("trans_id", row.getTransId()).with("status", row.getTransactionStatus()).with("invoice", row.getInvoiceNumber())
            .with("account_number", row.getAccountNumber()).with("account_type", row.getAccountType())
            .with("settle_amount", row.getSettleAmount().toPlainString()).with("total", total);
      }
    }
    return line;
  }

  private static Values batches(Values r) {
    GetSettledBatchListRequest request = prepared(new GetSettledBatchListRequest(), r);
    request.setIncludeStatistics(true);
    GetSettledBatchListController controller = new GetSettledBatchListController(request);
    controller.execute();
    GetSettledBatchListResponse answer = controller.getApiResponse();
    Values line = envelope(r, controller);
    if (answer == null || answer.getBatchList() == null) {
      return line;
    }
    java.util.List<BatchDetailsType> all = answer.getBatchList().getBatch();
    return readBatch(line, all.get(all.size() - 1));
  }

  private static Values batch(Values r) {
    GetBatchStatisticsRequest request = prepared(new GetBatchStatisticsRequest(), r);
    request.setBatchId(r.get("batch"));
    GetBatchStatisticsController controller = new GetBatchStatisticsController(request);
    controller.execute();
    GetBatchStatisticsResponse answer = controller.getApiResponse();
    Values line = envelope(r, controller);
    return answer == null || answer.getBatch() == null ? line : readBatch(line, answer.getBatch());
  }

  private static Values readBatch(Values line, BatchDetailsType batch) {
    BatchStatisticType row = batch.getStatistics().getStatistic().get(0);
    return line.with("batch", batch.getBatchId()).with("status", batch.getSettlementState()).with("account_type", row.getAccountType())
        .with("charges", row.getChargeCount()).with("charged", row.getChargeAmount().toPlainString()).with("refunds", row.getRefundCount())
        .with("refunded", row.getRefundAmount().toPlainString()).with("voids", row.getVoidCount());
  }

  private static Values merchant(Values r) {
    GetMerchantDetailsController controller = new GetMerchantDetailsController(prepared(new GetMerchantDetailsRequest(), r));
    controller.execute();
    GetMerchantDetailsResponse answer = controller.getApiResponse();
    Values line = envelope(r, controller);
    return answer == null || answer.getProcessors() == null ? line : line.with("merchant", answer.getMerchantName())
        .with("processor", answer.getProcessors().getProcessor().get(0).getName()).with("currency", answer.getCurrencies().getCurrency().get(0));
  }

  private static Values profile(Values r) {
    CustomerPaymentProfileType paymentProfile = new CustomerPaymentProfileType();
    paymentProfile.setCustomerType(CustomerTypeEnum.INDIVIDUAL);
    paymentProfile.setBillTo(address(r));
    paymentProfile.setPayment(payment(r));
    CustomerProfileType profile = new CustomerProfileType();
    profile.setMerchantCustomerId(r.get("merchant_customer"));
    profile.setDescription(r.get("description"));
    profile.setEmail(r.get("email"));
    for (int left = Integer.parseInt(r.getOrDefault("times", "1")); left > 0; left--) {
      profile.getPaymentProfiles().add(paymentProfile);
    }
    if (r.containsKey("shipping")) {
      profile.getShipToList().add(address(r));
    }
    CreateCustomerProfileRequest request = prepared(new CreateCustomerProfileRequest(), r);
    request.setProfile(profile);
    request.setValidationMode(ValidationModeEnum.fromValue(r.get("validation")));
    CreateCustomerProfileController controller = new CreateCustomerProfileController(request);
    controller.execute();
    Values line = envelope(r, controller);
    CreateCustomerProfileResponse answer = controller.getApiResponse();
    if (answer == null) {
      return line;
    }
    ArrayOfString said = answer.getValidationDirectResponseList();
    return line.with("customer_profile", answer.getCustomerProfileId()).with("payment_profile", first(answer.getCustomerPaymentProfileIdList()))
        .with("shipping_profile", first(answer.getCustomerShippingAddressIdList()))
        .with("direct", said == null || said.getString().isEmpty() ? null : said.getString().get(0));
  }

  private static Values readProfile(Values r) {
    GetCustomerProfileRequest request = prepared(new GetCustomerProfileRequest(), r);
    request.setCustomerProfileId(r.get("customer_profile"));
    request.setUnmaskExpirationDate(true);
    GetCustomerProfileController controller = new GetCustomerProfileController(request);
    controller.execute();
    Values line = envelope(r, controller);
    GetCustomerProfileResponse answer = controller.getApiResponse();
    if (answer == null || answer.getProfile() == null) {
      return line;
    }
    CustomerProfileMaskedType profile = answer.getProfile();
    java.util.List<CustomerPaymentProfileMaskedType> cards = profile.getPaymentProfiles();
    return line.with("customer_profile", profile.getCustomerProfileId()).with("email", profile.getEmail()).with("cards", cards.size())
        .with("expiry", cards.isEmpty() ? null : cards.get(cards.size() - 1).getPayment().getCreditCard().getExpirationDate());
  }

  private static Values deleteProfile(Values r) {
    DeleteCustomerProfileRequest request = prepared(new DeleteCustomerProfileRequest(), r);
    request.setCustomerProfileId(r.get("customer_profile"));
    DeleteCustomerProfileController controller = new DeleteCustomerProfileController(request);
    controller.execute();
    return envelope(r, controller);
  }

  /** storedCard fills in a payment profile of a stored customer. */
  private static <P extends CustomerPaymentProfileType> P storedCard(P made, Values r) {
    if (r.containsKey("zip")) {
      made.setBillTo(address(r));
    }
    made.setPayment(payment(r));
    return made;
  }

  private static Values addCard(Values r) {
    CreateCustomerPaymentProfileRequest request = prepared(new CreateCustomerPaymentProfileRequest(), r);
    request.setCustomerProfileId(r.get("customer_profile"));
    request.setPaymentProfile(storedCard(new CustomerPaymentProfileType(), r));
    request.setValidationMode(ValidationModeEnum.fromValue(r.get("validation")));
    CreateCustomerPaymentProfileController controller = new CreateCustomerPaymentProfileController(request);
    controller.execute();
    Values line = envelope(r, controller);
    CreateCustomerPaymentProfileResponse answer = controller.getApiResponse();
    return answer == null ? line : line.with("customer_profile", answer.getCustomerProfileId())
        .with("payment_profile", answer.getCustomerPaymentProfileId()).with("direct", answer.getValidationDirectResponse());
  }

  private static Values renewCard(Values r) {
    CustomerPaymentProfileExType card = storedCard(new CustomerPaymentProfileExType(), r);
    card.setCustomerPaymentProfileId(r.get("payment_profile"));
    UpdateCustomerPaymentProfileRequest request = prepared(new UpdateCustomerPaymentProfileRequest(), r);
    request.setCustomerProfileId(r.get("customer_profile"));
    request.setPaymentProfile(card);
    request.setValidationMode(ValidationModeEnum.fromValue(r.get("validation")));
    UpdateCustomerPaymentProfileController controller = new UpdateCustomerPaymentProfileController(request);
    controller.execute();
    return envelope(r, controller);
  }

  private static Values deleteCard(Values r) {
    DeleteCustomerPaymentProfileRequest request = prepared(new DeleteCustomerPaymentProfileRequest(), r);
    request.setCustomerProfileId(r.get("customer_profile"));
    request.setCustomerPaymentProfileId(r.get("payment_profile"));
    DeleteCustomerPaymentProfileController controller = new DeleteCustomerPaymentProfileController(request);
    controller.execute();
    return envelope(r, controller);
  }

  private static Values expiring(Values r) {
    GetCustomerPaymentProfileListRequest request = prepared(new GetCustomerPaymentProfileListRequest(), r);
    request.setSearchType(CustomerPaymentProfileSearchTypeEnum.CARDS_EXPIRING_IN_MONTH);
    request.setMonth(r.get("month"));
    GetCustomerPaymentProfileListController controller = new GetCustomerPaymentProfileListController(request);
    controller.execute();
    Values line = envelope(r, controller);
    GetCustomerPaymentProfileListResponse answer = controller.getApiResponse();
    return answer == null ? line : line.with("total", answer.getTotalNumInResultSet());
  }

  /** charge fills in a payment by a stored profile. */
  private static <T extends ProfileTransOrderType> T charge(T t, Values r) {
    t.setAmount(new BigDecimal(r.get("amount")));
    t.setCustomerProfileId(r.get("customer_profile"));
    t.setCustomerPaymentProfileId(r.get("payment_profile"));
    t.setOrder(order(r));
    return t;
  }

  private static OrderExType order(Values r) {
    if (!r.containsKey("invoice")) {
      return null;
    }
    OrderExType order = new OrderExType();
    order.setInvoiceNumber(r.get("invoice"));
    order.setDescription("two mugs");
    return order;
  }

  /** profileTransaction returns a transaction by a stored profile. Its kind is the end of the name of its element. */
  private static ProfileTransactionType profileTransaction(Values r) {
    ProfileTransactionType t = new ProfileTransactionType();
    switch (r.get("kind")) {
      case "AuthCapture":
        t.setProfileTransAuthCapture(charge(new ProfileTransAuthCaptureType(), r));
        return t;
      case "AuthOnly":
        t.setProfileTransAuthOnly(charge(new ProfileTransAuthOnlyType(), r));
        return t;
      case "PriorAuthCapture":
        ProfileTransPriorAuthCaptureType capture = new ProfileTransPriorAuthCaptureType();
        capture.setAmount(new BigDecimal(r.get("amount")));
        capture.setTransId(r.get("ref_trans_id"));
        t.setProfileTransPriorAuthCapture(capture);
        return t;
      case "Refund":
        ProfileTransRefundType refund = new ProfileTransRefundType();
        refund.setAmount(new BigDecimal(r.get("amount")));
        refund.setCustomerProfileId(r.get("customer_profile"));
        refund.setCustomerPaymentProfileId(r.get("payment_profile"));
        refund.setTransId(r.get("ref_trans_id"));
        t.setProfileTransRefund(refund);
        return t;
      default:
        ProfileTransVoidType cancel = new ProfileTransVoidType();
        cancel.setTransId(r.get("ref_trans_id"));
        t.setProfileTransVoid(cancel);
        return t;
    }
  }

  /** byProfile reads the fields of the direct response, whose delimiter is a vertical bar here. */
  private static Values byProfile(Values r) {
    CreateCustomerProfileTransactionRequest request = prepared(new CreateCustomerProfileTransactionRequest(), r);
    request.setTransaction(profileTransaction(r));
    request.setExtraOptions(r.get("options"));
    CreateCustomerProfileTransactionController controller = new CreateCustomerProfileTransactionController(request);
    controller.execute();
    Values line = envelope(r, controller);
    CreateCustomerProfileTransactionResponse answer = controller.getApiResponse();
    if (answer == null || answer.getDirectResponse() == null) {
      return line;
    }
    String[] f = answer.getDirectResponse().split("[|]", -1);
    return line.with("response_code", f[0]).with("reason", f[2]).with("auth_code", f[4]).with("avs", f[5]).with("trans_id", f[6])
        .with("amount", f[9]).with("type", f[11]).with("cvv", f[38]).with("cavv", f[39]).with("account_number", f[50])
        .with("account_type", f[51]).with("network_trans_id", f[58]);
  }
}
