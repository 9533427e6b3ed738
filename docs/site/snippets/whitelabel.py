"""In the white-label interface: sells 100 USDC for rupees: a customer, a quote, an order, and its status until the money has arrived."""
import time
import uuid

from cloverleaf import call

WL = "/onramp/api/v2/whiteLabel"

customer = call("POST", f"{WL}/kyc/url", {
    "clientCustomerId": str(uuid.uuid4()),  # your own id of this customer
    "phoneNumber": f"+91-9{str(time.time_ns())[7:16]}",  # one phone is one customer
    "type": "INDIVIDUAL",
})["customerId"]
# Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
call("POST", f"{WL}/test/changeKycStatus", {"customerId": customer, "status": "BASIC_KYC_COMPLETED"})
account = call("POST", f"{WL}/bank/addFiatAccount", {
    "customerId": customer, "fiatAccount": "000111222333", "ifsc": "HDFC0000001",
})["fiatAccountId"]

pair = {"fromCurrency": "usdc", "toCurrency": "INR", "chain": "matic20", "fromAmount": "100"}
quote = call("POST", f"{WL}/offramp/quote", pair)
sale = call("POST", f"{WL}/offramp/createTransaction", {
    **pair, "rate": quote["rate"], "toAmount": quote["toAmount"],
    "customerId": customer, "fiatAccountId": account,
})
print(f"send 100 USDC to {sale['depositAddress']}, to receive {quote['toAmount']} INR")

# The sandbox's customer pays: a token transfer on its chain.
order = {"customerId": customer, "transactionId": sale["transactionId"]}
call("POST", f"{WL}/test/changeOfframpStatus", {**order, "status": "2"})
status = ""
while status != "6":
    time.sleep(1)
    status = call("POST", f"{WL}/offramp/transaction", order)["status"]
print("status 6: paid to the bank account")
