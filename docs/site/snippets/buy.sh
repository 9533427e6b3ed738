# Buys 50 USDC for rupees: a customer, a wallet, a quote for the amount received, an order, and its state until the coins have arrived.
set -eu
. ./cloverleaf.sh

now=$(date +%s%N)
customer=$(v1 POST /v1/customers "{\"reference\":\"sh-$now\",\"kind\":\"individual\",\"phone\":\"+91-9$(printf %s "$now" | cut -c8-16)\"}" | field id)
call POST /onramp/api/v2/whiteLabel/test/changeKycStatus "{\"customerId\":\"$customer\",\"status\":\"BASIC_KYC_COMPLETED\"}" > /dev/null
wallet=$(v1 POST "/v1/customers/$customer/destinations" '{"kind":"address","chain":"matic20","address":"0x90f79bf6eb2c4f870365e785982e1f101e93b906"}' | field id)

# The amount received is fixed here; payAmount fixes the other side.
quote=$(v1 POST /v1/quotes '{"payAsset":"inr","receiveAsset":"usdc.matic20","receiveAmount":"50"}' | field id)
order=$(v1 POST /v1/orders "{\"quoteId\":\"$quote\",\"customerId\":\"$customer\",\"destinationId\":\"$wallet\"}")
id=$(printf %s "$order" | field id)
reference=$(printf %s "$order" | grep -o '"payment":.*' | field reference)
echo "order $id: transfer $(printf %s "$order" | field amount) INR with the reference $reference"

# The sandbox's customer pays: a bank transfer that carries the reference.
call POST /sandbox/v1/pay "{\"transactionId\":\"$id\"}" > /dev/null
state=''
while [ "$state" != settled ]; do
  sleep 1
  state=$(v1 GET "/v1/orders/$id" | field state)
done
echo "settled: 50 USDC are at the address"
