<?php
// In the white-label interface: sells 100 USDC for rupees: a customer, a quote, an order, and its status until the money has arrived.
require __DIR__ . '/cloverleaf.php';

const WL = '/onramp/api/v2/whiteLabel';

$customer = call('POST', WL . '/kyc/url', [
    'clientCustomerId' => bin2hex(random_bytes(8)), // your own id of this customer
    'phoneNumber' => '+91-9' . random_int(100000000, 999999999), // one phone is one customer
    'type' => 'INDIVIDUAL',
])['customerId'];
// Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
call('POST', WL . '/test/changeKycStatus', ['customerId' => $customer, 'status' => 'BASIC_KYC_COMPLETED']);
$account = call('POST', WL . '/bank/addFiatAccount', [
    'customerId' => $customer,
    'fiatAccount' => '000111222333',
    'ifsc' => 'HDFC0000001',
])['fiatAccountId'];

$pair = ['fromCurrency' => 'usdc', 'toCurrency' => 'INR', 'chain' => 'matic20', 'fromAmount' => '100'];
$quote = call('POST', WL . '/offramp/quote', $pair);
$sale = call('POST', WL . '/offramp/createTransaction', $pair + [
    'rate' => $quote['rate'],
    'toAmount' => $quote['toAmount'],
    'customerId' => $customer,
    'fiatAccountId' => $account,
]);
echo "send 100 USDC to {$sale['depositAddress']}, to receive {$quote['toAmount']} INR\n";

// The sandbox's customer pays: a token transfer on its chain.
$order = ['customerId' => $customer, 'transactionId' => $sale['transactionId']];
call('POST', WL . '/test/changeOfframpStatus', $order + ['status' => '2']);
do {
    sleep(1);
    $status = call('POST', WL . '/offramp/transaction', $order)['status'];
} while ($status !== '6');
echo "status 6: paid to the bank account\n";
