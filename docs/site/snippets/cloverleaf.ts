// The client for every program of these pages: npm install cloverleaf-ramp
import { Cloverleaf } from 'cloverleaf-ramp';

export const client = new Cloverleaf({
  baseUrl: process.env.CLOVERLEAF_URL ?? '',
  apiKey: process.env.CLOVERLEAF_KEY ?? '',
  apiSecret: process.env.CLOVERLEAF_SECRET ?? '',
});
