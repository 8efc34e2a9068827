import Api.CaptureApi;
import Api.CreditApi;
import Api.PaymentsApi;
import Api.RefundApi;
import Api.ReversalApi;
import Api.TransactionDetailsApi;
import Api.VoidApi;
import Invokers.ApiClient;
import Invokers.ApiException;
import Model.*;
import com.cybersource.authsdk.cache.Cache;
import com.cybersource.authsdk.core.MerchantConfig;
import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;

/**
 * The official Java client as a merchant uses it. It reads one request a line, a flat JSON object, and executes it.
 * It prints the fields of the response that the client read, as another object. steps.json in the folder above has the
 * requests and the expected responses.
 */
final class Walk {
  private static final Gson GSON = new Gson();

  /** The client's own settings, by name. */
  private static final JsonObject LOGINS = JsonParser.parseString(System.getenv("SDK_LOGINS")).getAsJsonObject();

  /** Printed lines: a name, and its path in a response. */
  private static final JsonObject READS = JsonParser.parseString(System.getenv("SDK_READS")).getAsJsonObject();

  /** The path of a line in the client's models. */
  private static final Map<String, String> WRITES = Map.ofEntries(
      Map.entry("code", "clientReferenceInformation.code"),
      Map.entry("transaction_id", "clientReferenceInformation.transactionId"),
      Map.entry("number", "paymentInformation.card.number"),
      Map.entry("month", "paymentInformation.card.expirationMonth"),
      Map.entry("year", "paymentInformation.card.expirationYear"),
      Map.entry("security_code", "paymentInformation.card.securityCode"),
      Map.entry("card_type", "paymentInformation.card.type"),
      Map.entry("account", "paymentInformation.bank.account.number"),
      Map.entry("routing", "paymentInformation.bank.routingNumber"),
      Map.entry("customer", "paymentInformation.customer.id"),
      Map.entry("instrument", "paymentInformation.paymentInstrument.id"),
      Map.entry("token", "paymentInformation.tokenizedCard.number"),
      Map.entry("cryptogram", "paymentInformation.tokenizedCard.cryptogram"),
      Map.entry("zip", "orderInformation.billTo.postalCode"),
      Map.entry("order", "orderInformation.invoiceDetails.purchaseOrderNumber"),
      Map.entry("capture", "processingInformation.capture"),
      Map.entry("commerce", "processingInformation.commerceIndicator"),
      Map.entry("entry", "processingInformation.bankTransferOptions.secCode"),
      Map.entry("partial", "processingInformation.authorizationOptions.partialAuthIndicator"),
      Map.entry("ignore_avs", "processingInformation.authorizationOptions.ignoreAvsResult"),
      Map.entry("initiator", "processingInformation.authorizationOptions.initiator.type"),
      Map.entry("stores", "processingInformation.authorizationOptions.initiator.credentialStoredOnFile"),
      Map.entry("previous", "processingInformation.authorizationOptions.initiator.merchantInitiatedTransaction.previousTransactionId"),
      Map.entry("sequence", "processingInformation.captureOptions.captureSequenceNumber"),
      Map.entry("captures", "processingInformation.captureOptions.totalCaptureCount"),
      Map.entry("cavv", "consumerAuthenticationInformation.cavv"),
      Map.entry("xid", "consumerAuthenticationInformation.xid"),
      Map.entry("eci", "consumerAuthenticationInformation.eciRaw"),
      Map.entry("ds_transaction", "consumerAuthenticationInformation.directoryServerTransactionId"));

  /** Further values that a line implies. */
  private static final Map<String, String> BESIDE = Map.of(
      "zip", "{'orderInformation':{'billTo':{'firstName':'Ana','lastName':'Wåhlin','address1':'1 Elm St','locality':'Bellevue',"
          + "'administrativeArea':'WA','country':'US','email':'ana@example.org'}}}",
      "account", "{'paymentInformation':{'bank':{'account':{'type':'C'}}}}",
      "cavv", "{'consumerAuthenticationInformation':{'paSpecificationVersion':'2.2.0'}}",
      "previous", "{'processingInformation':{'authorizationOptions':{'initiator':{'storedCredentialUsed':true}}}}",
      "keep", "{'processingInformation':{'actionList':['TOKEN_CREATE'],'actionTokenTypes':['customer','paymentInstrument']}}",
      "token", "{'paymentInformation':{'tokenizedCard':{'expirationMonth':'12','expirationYear':'2031','transactionType':'1'}}}",
      "order", "{'orderInformation':{'lineItems':[{'productSku':'mug','productName':'a mug','quantity':2,'unitPrice':'20.00'},"
          + "{'productSku':'lid','productName':'a lid','quantity':1,'unitPrice':'5.00'}],"
          + "'shipTo':{'firstName':'Bo','lastName':'Diaz','address1':'2 Oak St','postalCode':'98005','country':'US'}},"
          + "'merchantDefinedInformation':[{'key':'1','value':'gift <&> wrap'}],'deviceInformation':{'ipAddress':'192.0.2.7'},"
          + "'buyerInformation':{'merchantCustomerId':'c-7','companyTaxId':'12-345'}}");

  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err); // the client logs there
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(GSON.toJson(execute(JsonParser.parseString(line).getAsJsonObject())));
    }
    System.exit(0); // the client's connections would keep the process alive
  }

  private static JsonObject execute(JsonObject r) throws Exception {
    JsonObject line = new JsonObject();
    line.add("step", r.get("step"));
    JsonElement answer;
    ApiClient client = client(r.get("login").getAsString());
    try {
      answer = GSON.toJsonTree(call(client, r));
      line.addProperty("http", client.responseCode);
    } catch (ApiException refusal) {
      answer = JsonParser.parseString(refusal.getResponseBody());
      line.addProperty("http", String.valueOf(refusal.getCode()));
    }
    for (String name : READS.keySet()) {
      JsonElement value = at(answer, READS.get(name).getAsString());
      if (value != null) {
        line.addProperty(name, value.getAsString());
      }
    }
    return line;
  }

  /** The login of the last request, and its client. */
  private static String present;
  private static ApiClient client;

  /** Returns the client of a login. A merchant keeps it, so a P12 is opened once until the login changes. */
  private static ApiClient client(String login) throws Exception {
    if (!login.equals(present)) {
      client = newClient(login);
      present = login;
    }
    return client;
  }

  private static ApiClient newClient(String login) throws Exception {
    Properties settings = new Properties();
    JsonObject headers = new JsonObject();
    for (Map.Entry<String, JsonElement> e : LOGINS.getAsJsonObject(login).entrySet()) {
      if (e.getValue().isJsonObject()) {
        headers = e.getValue().getAsJsonObject();
      } else {
        settings.setProperty(e.getKey(), e.getValue().getAsString());
      }
    }
    Cache.cacheP12.clear(); // otherwise the first merchant's P12 applies to all in this process
    MerchantConfig config = new MerchantConfig(settings);
    ApiClient client = new ApiClient(config);
    client.merchantConfig = config;
    for (String name : headers.keySet()) {
      client.addDefaultHeader(name, headers.get(name).getAsString());
    }
    return client;
  }

  private static Object call(ApiClient client, JsonObject r) throws Exception {
    String id = r.has("id") ? r.get("id").getAsString() : null;
    switch (r.get("method").getAsString()) {
      case "payment":
        return new PaymentsApi(client).createPayment(model(r, "orderInformation", CreatePaymentRequest.class));
      case "capture":
        return new CaptureApi(client).capturePayment(model(r, "orderInformation", CapturePaymentRequest.class), id);
      case "reversal":
        return new ReversalApi(client).authReversal(id, model(r, "reversalInformation", AuthReversalRequest.class));
      case "timeout-reversal":
        return new ReversalApi(client).mitReversal(model(r, "reversalInformation", MitReversalRequest.class));
      case "refund":
        return new RefundApi(client).refundPayment(model(r, "orderInformation", RefundPaymentRequest.class), id);
      case "refund-capture":
        return new RefundApi(client).refundCapture(model(r, "orderInformation", RefundCaptureRequest.class), id);
      case "void":
        return new VoidApi(client).voidPayment(model(r, "", VoidPaymentRequest.class), id);
      case "void-capture":
        return new VoidApi(client).voidCapture(model(r, "", VoidCaptureRequest.class), id);
      case "void-refund":
        return new VoidApi(client).voidRefund(model(r, "", VoidRefundRequest.class), id);
      case "void-credit":
        return new VoidApi(client).voidCredit(model(r, "", VoidCreditRequest.class), id);
      case "timeout-void":
        return new VoidApi(client).mitVoid(model(r, "", MitVoidRequest.class));
      case "credit":
        return new CreditApi(client).createCredit(model(r, "orderInformation", CreateCreditRequest.class));
      case "increment":
        return new PaymentsApi(client).incrementAuth(id, model(r, "orderInformation", IncrementAuthRequest.class));
      default:
        return new TransactionDetailsApi(client).getTransaction(id);
    }
  }

  /** A request as an object of the client; its amount is below that name. */
  private static <T> T model(JsonObject r, String amounts, Class<T> type) {
    JsonObject tree = new JsonObject();
    for (String name : r.keySet()) {
      if (BESIDE.containsKey(name)) {
        merge(tree, JsonParser.parseString(BESIDE.get(name)).getAsJsonObject());
      }
      String path = WRITES.get(name);
      if (name.equals("currency") || name.equals("amount")) {
        path = amounts + ".amountDetails." + (name.equals("currency") ? name : type == IncrementAuthRequest.class ? "additionalAmount" : "totalAmount");
      }
      if (path != null) {
        merge(tree, nested(path, r.get(name)));
      }
    }
    return GSON.fromJson(tree, type);
  }

  /** A value at a path; "yes" becomes true. */
  private static JsonObject nested(String path, JsonElement value) {
    String yes = value.getAsString();
    JsonElement inner = yes.equals("yes") || yes.equals("true") ? JsonParser.parseString("true") : value;
    String[] names = path.split("\\.");
    for (int i = names.length - 1; i >= 0; i--) {
      JsonObject outer = new JsonObject();
      outer.add(names[i], inner);
      inner = outer;
    }
    return inner.getAsJsonObject();
  }

  private static void merge(JsonObject into, JsonObject from) {
    for (String name : from.keySet()) {
      if (into.has(name) && into.get(name).isJsonObject()) {
        merge(into.getAsJsonObject(name), from.getAsJsonObject(name));
      } else {
        into.add(name, from.get(name));
      }
    }
  }

  /** The value at a path of a response; null if the path does not exist. */
  private static JsonElement at(JsonElement inner, String path) {
    for (String name : path.split("\\.")) {
      if (inner instanceof JsonArray) {
        JsonArray list = inner.getAsJsonArray();
        int i = Integer.parseInt(name);
        inner = i < list.size() ? list.get(i) : null;
      } else {
        inner = inner instanceof JsonObject ? inner.getAsJsonObject().get(name) : null;
      }
    }
    return inner;
  }
}
