"""Sells 100 USDC for rupees: a customer, a destination, a quote, an order, and its state until the money has arrived."""
import time
import uuid

from cloverleaf import call, v1

customer = v1("POST", "/v1/customers", {
    "reference": str(uuid.uuid4()),  # your own id of this customer
    "kind": "individual",
    "phone": f"+91-9{str(time.time_ns())[7:16]}",  # one phone is one customer
})["id"]
# Only the sandbox verifies on request; elsewhere the customer opens the link of POST /v1/customers/<id>/verification-link.
call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus", {
    "customerId": customer, "status": "BASIC_KYC_COMPLETED",
})
account = v1("POST", f"/v1/customers/{customer}/destinations", {
    "kind": "account", "asset": "inr", "accountNumber": "000111222333", "ifsc": "HDFC0000001",
})["id"]

quote = v1("POST", "/v1/quotes", {"payAsset": "usdc.matic20", "receiveAsset": "inr", "payAmount": "100"})
order = v1("POST", "/v1/orders", {"quoteId": quote["id"], "customerId": customer, "destinationId": account})
print(f"order {order['id']}: send 100 USDC to {order['payment']['address']}")

# The sandbox's customer pays: a token transfer on its chain.
call("POST", "/sandbox/v1/pay", {"transactionId": order["id"]})
while v1("GET", f"/v1/orders/{order['id']}")["state"] != "settled":
    time.sleep(1)
print("settled: paid to the bank account")
