<?php
// Buys 50 USDC for rupees: a customer, a wallet, a quote for the amount received, an order, and its state to the end.
require __DIR__ . '/cloverleaf.php';

$customer = v1('POST', '/v1/customers', [
    'reference' => bin2hex(random_bytes(8)),
    'kind' => 'individual',
    'phone' => '+91-9' . random_int(100000000, 999999999),
])['id'];
call('POST', '/onramp/api/v2/whiteLabel/test/changeKycStatus', [
    'customerId' => $customer,
    'status' => 'BASIC_KYC_COMPLETED',
]);
$wallet = v1('POST', "/v1/customers/$customer/destinations", [
    'kind' => 'address',
    'chain' => 'matic20',
    'address' => '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
])['id'];

// The amount received is fixed here; payAmount fixes the other side.
$quote = v1('POST', '/v1/quotes', ['payAsset' => 'inr', 'receiveAsset' => 'usdc.matic20', 'receiveAmount' => '50']);
$order = v1('POST', '/v1/orders', [
    'quoteId' => $quote['id'],
    'customerId' => $customer,
    'destinationId' => $wallet,
]);
['pay' => $pay, 'payment' => $payment] = $order;
echo "order {$order['id']}: transfer {$pay['amount']} INR with the reference {$payment['reference']}\n";

// The sandbox's customer pays: a bank transfer that carries the reference.
call('POST', '/sandbox/v1/pay', ['transactionId' => $order['id']]);
while (v1('GET', "/v1/orders/{$order['id']}")['state'] !== 'settled') {
    sleep(1);
}
echo "settled: 50 USDC are at the address\n";
