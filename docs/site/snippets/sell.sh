# Sells 100 USDC for rupees: a customer, a destination, a quote, an order, and its state until the money has arrived.
set -eu
. ./cloverleaf.sh

now=$(date +%s%N)
customer=$(v1 POST /v1/customers "{\"reference\":\"sh-$now\",\"kind\":\"individual\",\"phone\":\"+91-9$(printf %s "$now" | cut -c8-16)\"}" | field id)
# Only the sandbox verifies on request; elsewhere the customer opens the link of POST /v1/customers/<id>/verification-link.
call POST /onramp/api/v2/whiteLabel/test/changeKycStatus "{\"customerId\":\"$customer\",\"status\":\"BASIC_KYC_COMPLETED\"}" > /dev/null
account=$(v1 POST "/v1/customers/$customer/destinations" '{"kind":"account","asset":"inr","accountNumber":"000111222333","ifsc":"HDFC0000001"}' | field id)

quote=$(v1 POST /v1/quotes '{"payAsset":"usdc.matic20","receiveAsset":"inr","payAmount":"100"}' | field id)
order=$(v1 POST /v1/orders "{\"quoteId\":\"$quote\",\"customerId\":\"$customer\",\"destinationId\":\"$account\"}")
id=$(printf %s "$order" | field id)
echo "order $id: send 100 USDC to $(printf %s "$order" | field address)"

# The sandbox's customer pays: a token transfer on its chain.
call POST /sandbox/v1/pay "{\"transactionId\":\"$id\"}" > /dev/null
state=''
while [ "$state" != settled ]; do
  sleep 1
  state=$(v1 GET "/v1/orders/$id" | field state)
done
echo "settled: paid to the bank account"
