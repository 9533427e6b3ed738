# In the white-label interface: sells 100 USDC for rupees: a customer, a quote, an order, and its status until the money has arrived.
set -eu
. ./cloverleaf.sh
WL=/onramp/api/v2/whiteLabel

customer=$(call POST $WL/kyc/url "{\"clientCustomerId\":\"sh-$(date +%s%N)\",\"phoneNumber\":\"+91-9$(date +%s%N | cut -c8-16)\",\"type\":\"INDIVIDUAL\"}" | field customerId)
# Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
call POST $WL/test/changeKycStatus "{\"customerId\":\"$customer\",\"status\":\"BASIC_KYC_COMPLETED\"}" > /dev/null
account=$(call POST $WL/bank/addFiatAccount "{\"customerId\":\"$customer\",\"fiatAccount\":\"000111222333\",\"ifsc\":\"HDFC0000001\"}" | field fiatAccountId)

pair='"fromCurrency":"usdc","toCurrency":"INR","chain":"matic20","fromAmount":"100"'
quote=$(call POST $WL/offramp/quote "{$pair}")
rate=$(printf %s "$quote" | field rate)
amount=$(printf %s "$quote" | field toAmount)
sale=$(call POST $WL/offramp/createTransaction "{$pair,\"rate\":\"$rate\",\"toAmount\":\"$amount\",\"customerId\":\"$customer\",\"fiatAccountId\":\"$account\"}")
id=$(printf %s "$sale" | field transactionId)
echo "send 100 USDC to $(printf %s "$sale" | field depositAddress), to receive $amount INR"

# The sandbox's customer pays: a token transfer on its chain.
call POST $WL/test/changeOfframpStatus "{\"customerId\":\"$customer\",\"transactionId\":\"$id\",\"status\":\"2\"}" > /dev/null
status=''
while [ "$status" != 6 ]; do
  sleep 1
  status=$(call POST $WL/offramp/transaction "{\"customerId\":\"$customer\",\"transactionId\":\"$id\"}" | field status)
done
echo "status 6: paid to the bank account"
