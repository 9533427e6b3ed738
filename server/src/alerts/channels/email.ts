/**
 * E-mail by SMTP, with nodemailer: TLS with a verified certificate, unless the server is on this machine. One connection per
 * message. `Message-ID` is the same at every attempt, so that receivers recognise a repeated message.
 */
import { adapter } from '../../base/adapter.ts';
import { demanded, SettingError, secret, text } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import { type Channel, type ChannelContext, textOf } from '../channel.ts';

const LOCAL = ['127.0.0.1', 'localhost', '[::1]'];

/** @throws SettingError that does not quote the address, because it may contain a password */
function serverOf(url: string, { deadlineMs }: ChannelContext) {
  const at = URL.canParse(url) ? new URL(url) : undefined;
  if (at === undefined || !['smtp:', 'smtps:'].includes(at.protocol) || at.hostname === '')
    throw new SettingError('ALERT_SMTP_URL must be smtps://user:password@host:465, or smtp:// with STARTTLS');
  const isLocal = LOCAL.includes(at.hostname);
  return {
    host: at.hostname,
    port: Number(at.port || (at.protocol === 'smtps:' ? 465 : 587)),
    secure: at.protocol === 'smtps:',
    requireTLS: at.protocol === 'smtp:' && !isLocal,
    ...(isLocal ? { ignoreTLS: at.protocol === 'smtp:' } : {}),
    ...(at.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(at.username), pass: decodeURIComponent(at.password) } }),
    ...{ connectionTimeout: deadlineMs, greetingTimeout: deadlineMs, socketTimeout: deadlineMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  };
}

const ADDRESS = /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,190}$/;

function addresses(name: string, given: string): string[] {
  const all = given.split(',').map((one) => one.trim());
  if (all.length > 20 || all.some((one) => !ADDRESS.test(one)))
    throw new SettingError(`${name} must be at most 20 e-mail addresses, with commas`);
  return all;
}

export const emailChannel = adapter({
  code: 'email',
  about: 'Sends an e-mail to each of a few addresses, through an SMTP server',
  settings: {
    server: demanded(
      secret('ALERT_SMTP_URL', 'SMTP server that alerts are sent through: smtps://user:password@host:465'),
      'which SMTP server sends alerts',
    ),
    from: demanded(
      text('ALERT_EMAIL_FROM', 'e-mail address that alerts come from', undefined),
      'which e-mail address alerts come from',
    ),
    to: demanded(
      text('ALERT_EMAIL_TO', 'e-mail addresses that alerts are sent to, separated by commas', undefined),
      'which e-mail addresses alerts go to',
    ),
  },
  create({ server = '', from = '', to = '' }, context: ChannelContext): Channel {
    const options = serverOf(server, context);
    const [sender = ''] = addresses('ALERT_EMAIL_FROM', from);
    const receivers = addresses('ALERT_EMAIL_TO', to);
    return {
      code: 'email',
      async send(message) {
        // Loaded with the first message, so that it does not slow down the start.
        const { createTransport } = await import('nodemailer');
        const transport = createTransport(options);
        try {
          await transport.sendMail({
            ...{ from: sender, to: receivers, subject: message.title, text: textOf(message) },
            messageId: `<${message.id}@${sender.split('@')[1] ?? 'cloverleaf'}>`,
            headers: { 'Auto-Submitted': 'auto-generated' },
          });
        } catch (error) {
          const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
          throw new Unavailable('smtp', `it was not taken (${String(responseCode ?? code ?? 'no reason given')})`);
        } finally {
          transport.close();
        }
      },
    };
  },
});
