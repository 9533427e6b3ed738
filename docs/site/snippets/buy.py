"""Buys 50 USDC for rupees: a customer, a wallet, a quote for the amount received, an order, and its state to the end."""
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
wallet = v1("POST", f"/v1/customers/{customer}/destinations", {
    "kind": "address", "chain": "matic20", "address": "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
})["id"]

# The amount received is fixed here; payAmount fixes the other side.
quote = v1("POST", "/v1/quotes", {"payAsset": "inr", "receiveAsset": "usdc.matic20", "receiveAmount": "50"})
order = v1("POST", "/v1/orders", {"quoteId": quote["id"], "customerId": customer, "destinationId": wallet})
print(f"order {order['id']}: transfer {order['pay']['amount']} INR with the reference {order['payment']['reference']}")

# The sandbox's customer pays: a bank transfer that carries the reference.
call("POST", "/sandbox/v1/pay", {"transactionId": order["id"]})
while v1("GET", f"/v1/orders/{order['id']}")["state"] != "settled":
    time.sleep(1)
print("settled: 50 USDC are at the address")
