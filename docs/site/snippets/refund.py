"""A sale of 100 USDC that is paid with 50 alone: its deadline passes, and what came goes back to the customer."""
import time
import uuid

from cloverleaf import call, v1

customer = v1("POST", "/v1/customers", {
    "reference": str(uuid.uuid4()),
    "kind": "individual",
    "phone": f"+91-9{str(time.time_ns())[7:16]}",
})["id"]
call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus", {
    "customerId": customer, "status": "BASIC_KYC_COMPLETED",
})
account = v1("POST", f"/v1/customers/{customer}/destinations", {
    "kind": "account", "asset": "inr", "accountNumber": "000111222333", "ifsc": "HDFC0000001",
})["id"]
wallet = v1("POST", f"/v1/customers/{customer}/destinations", {
    "kind": "address", "chain": "matic20", "address": "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
})["id"]
quote = v1("POST", "/v1/quotes", {"payAsset": "usdc.matic20", "receiveAsset": "inr", "payAmount": "100"})
order = v1("POST", "/v1/orders", {"quoteId": quote["id"], "customerId": customer, "destinationId": account})["id"]


def becomes(field, value):
    while True:
        now = v1("GET", f"/v1/orders/{order}")
        if now[field] == value:
            return now
        time.sleep(1)


# The sandbox's customer pays half.
call("POST", "/sandbox/v1/pay", {"transactionId": order, "how": "under"})
received = becomes("reason", "underpaid")["received"]
print(f"order {order}: {received['amount']} of 100 USDC came; the rest may come until its deadline")

# Nothing more comes. The sandbox's clock brings the deadline nearer; then the order is on hold, and its money may go back.
call("POST", "/sandbox/v1/clock", {"advance": "2h"})
becomes("state", "on_hold")
v1("POST", f"/v1/orders/{order}/refund", {"destinationId": wallet})
becomes("state", "refunded")
refund = v1("GET", f"/v1/orders/{order}/refunds")["data"][0]
print(f"refunded: {refund['amount']['amount']} USDC are back by the transfer {refund['hash']}")
