<?php
// Sells 100 USDC for rupees: a customer, a destination, a quote, an order, and its state until the money has arrived.
require __DIR__ . '/cloverleaf.php';

$customer = v1('POST', '/v1/customers', [
    'reference' => bin2hex(random_bytes(8)), // your own id of this customer
    'kind' => 'individual',
    'phone' => '+91-9' . random_int(100000000, 999999999), // one phone is one customer
])['id'];
// Only the sandbox verifies on request; elsewhere the customer opens the link of POST /v1/customers/<id>/verification-link.
call('POST', '/onramp/api/v2/whiteLabel/test/changeKycStatus', [
    'customerId' => $customer,
    'status' => 'BASIC_KYC_COMPLETED',
]);
$account = v1('POST', "/v1/customers/$customer/destinations", [
    'kind' => 'account',
    'asset' => 'inr',
    'accountNumber' => '000111222333',
    'ifsc' => 'HDFC0000001',
])['id'];

$quote = v1('POST', '/v1/quotes', ['payAsset' => 'usdc.matic20', 'receiveAsset' => 'inr', 'payAmount' => '100']);
$order = v1('POST', '/v1/orders', [
    'quoteId' => $quote['id'],
    'customerId' => $customer,
    'destinationId' => $account,
]);
echo "order {$order['id']}: send 100 USDC to {$order['payment']['address']}\n";

// The sandbox's customer pays: a token transfer on its chain.
call('POST', '/sandbox/v1/pay', ['transactionId' => $order['id']]);
while (v1('GET', "/v1/orders/{$order['id']}")['state'] !== 'settled') {
    sleep(1);
}
echo "settled: paid to the bank account\n";
