# A sale of 100 USDC that is paid with 50 alone: its deadline passes, and what came goes back to an address of the customer.
set -eu
. ./cloverleaf.sh

now=$(date +%s%N)
customer=$(v1 POST /v1/customers "{\"reference\":\"sh-$now\",\"kind\":\"individual\",\"phone\":\"+91-9$(printf %s "$now" | cut -c8-16)\"}" | field id)
call POST /onramp/api/v2/whiteLabel/test/changeKycStatus "{\"customerId\":\"$customer\",\"status\":\"BASIC_KYC_COMPLETED\"}" > /dev/null
account=$(v1 POST "/v1/customers/$customer/destinations" '{"kind":"account","asset":"inr","accountNumber":"000111222333","ifsc":"HDFC0000001"}' | field id)
wallet=$(v1 POST "/v1/customers/$customer/destinations" '{"kind":"address","chain":"matic20","address":"0x90f79bf6eb2c4f870365e785982e1f101e93b906"}' | field id)
quote=$(v1 POST /v1/quotes '{"payAsset":"usdc.matic20","receiveAsset":"inr","payAmount":"100"}' | field id)
id=$(v1 POST /v1/orders "{\"quoteId\":\"$quote\",\"customerId\":\"$customer\",\"destinationId\":\"$account\"}" | field id)

# becomes <field> <value>: asks for the order until a field of it has the value.
becomes() {
  while order=$(v1 GET "/v1/orders/$id") && [ "$(printf %s "$order" | field "$1")" != "$2" ]; do sleep 1; done
}

# The sandbox's customer pays half.
call POST /sandbox/v1/pay "{\"transactionId\":\"$id\",\"how\":\"under\"}" > /dev/null
becomes reason underpaid
echo "order $id: $(printf %s "$order" | grep -o '"received":.*' | field amount) of 100 USDC came; the rest may come until its deadline"

# Nothing more comes. The sandbox's clock brings the deadline nearer; then the order is on hold, and its money may go back.
call POST /sandbox/v1/clock '{"advance":"2h"}' > /dev/null
becomes state on_hold
v1 POST "/v1/orders/$id/refund" "{\"destinationId\":\"$wallet\"}" > /dev/null
becomes state refunded
refund=$(v1 GET "/v1/orders/$id/refunds")
echo "refunded: $(printf %s "$refund" | field amount) USDC are back by the transfer $(printf %s "$refund" | field hash)"
