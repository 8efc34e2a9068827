"""Reads the documents named as arguments with the bindings of the provider's schema, which check the order, the types
and the lengths of all elements. It prints each document that the schema does not accept, with the reason.
"""

import logging
import sys

import pyxb
from authorizenet import apicontractsv1
from pyxb.binding.basis import complexTypeDefinition
from pyxb.binding.content import AutomatonConfiguration
from pyxb.utils.saxdom import Element

# The bindings allow several paths through a type with many optional elements, such as an address.
AutomatonConfiguration.PermittedNondeterminism = 1000
logging.disable()


# The types that extend another one, besides the types of requests and responses.
DERIVED = (
    "creditCardType",
    "customerAddressType",
    "customerAddressExType",
    "customerPaymentProfileType",
    "customerPaymentProfileExType",
    "customerPaymentProfileMaskedType",
    "customerProfileExType",
    "customerProfileInfoExType",
    "customerProfileMaskedType",
    "orderExType",
    "profileTransPriorAuthCaptureType",
    "profileTransRefundType",
)


def misplaced(binding):
    """Returns the elements of a document that the schema does not have at their place. The bindings keep them aside. They
    also keep aside the optional elements of a type that extends another one, and do not check the order of those.
    """
    if not isinstance(binding, complexTypeDefinition) or binding._IsSimpleTypeContent():
        return []
    kind = type(binding).__name__
    extends = kind in DERIVED or kind.startswith("CTD_ANON")
    aside = binding.wildcardElements() or []
    wrong = [kind for element in aside if isinstance(element, Element) or not extends]
    for child in binding.orderedContent():
        wrong += misplaced(child.value)
    return wrong


def problem(path):
    """Returns the reason why the schema does not accept a document, None if it does."""
    with open(path, "rb") as document:
        text = document.read()
    try:
        read = apicontractsv1.CreateFromDocument(text)
        read.validateBinding()
    except pyxb.PyXBException as wrong:
        return f"{type(wrong).__name__}: {wrong}"
    kinds = misplaced(read)
    return f"misplaced elements in {kinds}" if kinds else None


for name in sys.argv[1:]:
    reason = problem(name)
    if reason:
        print(f"{name}: {reason}")
