/**
 * Alerts: each rule reports its cases once; the content of a message; and the format of each channel. What every channel promises
 * is in contracts/channel.ts.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { emailChannel } from '../../src/alerts/channels/email.ts';
import { pagerdutyChannel } from '../../src/alerts/channels/pagerduty.ts';
import { slackChannel } from '../../src/alerts/channels/slack.ts';
import { webhookChannel } from '../../src/alerts/channels/webhook.ts';
import { hourIn, isWithin } from '../../src/alerts/hours.ts';
import {
  ALERTS_JOB,
  alertHandlers,
  alertMessages,
  type Channel,
  type Message,
  type RuleInput,
  removeAlertRule,
  setAlertRule,
} from '../../src/alerts/index.ts';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import { assignCase, closeCases, openCase } from '../../src/compliance/index.ts';
import { CHANNELS } from '../../src/registry.ts';
import { httpReceiver, type Posted, smtpReceiver } from '../support/alertreceivers.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

const MESSAGE: Message = {
  id: 'cloverleaf-alert-7',
  title: 'Cloverleaf: case 7, payout unknown, needs a person',
  lines: ['Case 7: payout unknown, order 3, open since 2026-01-02 03:04 UTC', 'Rule <all> & more'],
  link: 'https://ramp.example/console/cases/7',
  isUrgent: true,
};

describe('channels', () => {
  let http: Awaited<ReturnType<typeof httpReceiver>>;
  beforeEach(async () => {
    http = await httpReceiver();
  });
  afterEach(async () => await http?.stop());
  const posted = (): Posted => http.accepted[0] ?? { path: '', headers: {}, body: '{}' };

  test('slack posts title, lines and link, and nothing of them is one of its own marks', async () => {
    await slackChannel.create({ url: `${http.url}/hook` }, CHANNELS).send(MESSAGE);
    const { text } = JSON.parse(posted().body) as { text: string };
    assert.match(text, /^\*Cloverleaf: case 7/);
    assert.match(text, /https:\/\/ramp\.example\/console\/cases\/7$/);
    assert.match(text, /Rule &lt;all&gt; &amp; more/);
  });

  test('pagerduty opens an incident under the id of the message', async () => {
    await pagerdutyChannel.create({ key: 'k'.repeat(32), url: http.url }, CHANNELS).send(MESSAGE);
    const { path, body } = posted();
    const said = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual(
      [path, said.routing_key, said.event_action, said.dedup_key],
      ['/v2/enqueue', 'k'.repeat(32), 'trigger', MESSAGE.id],
    );
    assert.equal((said.payload as { severity: string }).severity, 'critical');
  });

  test('the webhook is signed over its id, time and body', async () => {
    const secret = 's'.repeat(40);
    await webhookChannel.create({ url: http.url, secret }, CHANNELS).send(MESSAGE);
    const { headers, body } = posted();
    const signed = createHmac('sha256', secret)
      .update(`${MESSAGE.id}.${headers['webhook-timestamp']}.${body}`)
      .digest('base64');
    assert.deepEqual([headers['webhook-id'], headers['webhook-signature']], [MESSAGE.id, `v1,${signed}`]);
  });

  test('e-mail goes to each address through an SMTP server, under the same Message-ID each time', async () => {
    const smtp = await smtpReceiver();
    try {
      const channel = emailChannel.create(
        {
          ...{
            server: `smtp://127.0.0.1:${smtp.port}`,
            from: 'alerts@ramp.example',
            to: 'ada@ramp.example, bea@ramp.example',
          },
        },
        CHANNELS,
      );
      await channel.send(MESSAGE);
      await channel.send(MESSAGE);
      assert.deepEqual(smtp.receivers, [
        'ada@ramp.example',
        'bea@ramp.example',
        'ada@ramp.example',
        'bea@ramp.example',
      ]);
      const ids = smtp.mails.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1]);
      assert.deepEqual(ids, Array(2).fill('<cloverleaf-alert-7@ramp.example>'));
      assert.match(smtp.mails[0] ?? '', /^Subject: Cloverleaf: case 7, payout unknown, needs a person$/m);
      assert.match(smtp.mails[0] ?? '', /console\/cases\/7/);
    } finally {
      await smtp.stop();
    }
  });

  test('a setting that cannot be is named, without its password', () => {
    const of = (settings: Record<string, string>) => () => emailChannel.create(settings, CHANNELS);
    const good = { server: 'smtps://u:hunter2@mail.example', from: 'a@b.example', to: 'c@d.example' };
    assert.throws(
      of({ ...good, server: 'http://u:hunter2@mail.example' }),
      /^SettingError: ALERT_SMTP_URL (?!.*hunter2)/,
    );
    assert.throws(of({ ...good, to: 'c@d.example\r\nBcc: x@y.example' }), /ALERT_EMAIL_TO/);
  });
});

test('hours are those of clocks in the zone, and a span may pass midnight', () => {
  assert.deepEqual(hourIn('Asia/Kolkata', new Date('2026-03-01T20:30:00Z')), { hour: 2, day: '2026-03-02' });
  const night = { fromHour: 22, untilHour: 6 };
  assert.deepEqual(
    [21, 22, 23, 0, 5, 6, 12].map((hour) => isWithin(hour, night)),
    [false, true, true, true, true, false, false],
  );
  assert.ok(isWithin(13, { fromHour: 0, untilHour: 0 }), 'equal hours do not cover the whole day');
});

describe('rules', () => {
  let fixture: Fixture;
  let says: (message: Message) => void;
  let sent: Message[];
  const channel: Channel = {
    code: 'test',
    async send(message) {
      says(message);
      sent.push(message);
    },
  };
  before(async () => {
    fixture = await freshFixture();
    // Half past, so that no hour begins while a test runs.
    fixture.clock.advance(((90 - fixture.clock.now().getUTCMinutes()) % 60) * 60_000);
  });
  after(async () => await fixture?.stop());
  beforeEach(async () => {
    sent = [];
    says = () => {};
    await fixture.db.asSystem(async (tx) => {
      await tx.run('update alert_rules set removed_at = now() where removed_at is null');
      await tx.run(`update cases set closed_at = now() where closed_at is null`);
    });
  });

  const sets = async (rule: Partial<RuleInput>) =>
    await fixture.db.asSystem((tx) =>
      setAlertRule(
        tx,
        { name: 'all', channel: 'test', about: 'opened', ...rule },
        { operator: 'ada', channels: ['test'], now: fixture.clock.now() },
      ),
    );
  const opens = async (kind: 'payout_unknown' | 'deposit_late', subject: string) =>
    await fixture.db.asSystem((tx) =>
      openCase(tx, { kind, subject, reason: 'Ravi Iyer 000987654321 did not answer', now: fixture.clock.now() }),
    );
  const handlers = () =>
    alertHandlers({ ...fixture, channels: new Map([['test', channel]]), publicUrl: 'https://ramp.example' });
  /** Writes the messages that are due and sends them. */
  const tells = async (): Promise<string[]> => {
    await handlers()[ALERTS_JOB]?.('all');
    const waiting = await fixture.db.asSystem((tx) => alertMessages(tx, { limit: 50 }));
    for (const { id, sentAt, failedAt } of waiting)
      if (sentAt === null && failedAt === null) await handlers().send_alert?.(String(id));
    return sent.splice(0).map(({ title }) => title.replace(/case [0-9]+/, 'case N'));
  };
  const later = (minutes: number) => fixture.clock.advance(minutes * 60_000);

  test('a case is reported once, by kind and number, without texts of people or banks', async () => {
    await sets({});
    await opens('payout_unknown', 'payout:Ravi-Iyer');
    let told = '';
    says = (message) => void (told = JSON.stringify(message));
    assert.deepEqual(await tells(), ['Cloverleaf: case N, payout unknown, needs a person']);
    assert.doesNotMatch(told, /Ravi|Iyer|000987/);
    later(2);
    assert.deepEqual(await tells(), []);
  });

  test('many cases give one message a minute', async () => {
    await sets({});
    for (let at = 0; at < 30; at += 1) await opens('deposit_late', `deposit:9${at}`);
    assert.deepEqual(await tells(), ['Cloverleaf: 30 cases, each needs a person']);
    await opens('deposit_late', 'deposit:9999');
    assert.deepEqual(await tells(), [], 'a second message was written within the minute');
    later(1);
    assert.equal((await tells()).length, 1);
  });

  test('kinds, minutes, claims and due times restrict the reported cases', async () => {
    await sets({ name: 'kind', kinds: ['payout_unknown'] });
    await sets({ name: 'slow', afterMinutes: 30 });
    await sets({ name: 'free', about: 'unclaimed', afterMinutes: 10 });
    await sets({ name: 'due', about: 'overdue' });
    await opens('deposit_late', 'deposit:5');
    assert.deepEqual(await tells(), []);
    later(10);
    assert.deepEqual(await tells(), ['Cloverleaf: case N, deposit late, is claimed by no one']);
    later(20);
    assert.deepEqual(await tells(), ['Cloverleaf: case N, deposit late, needs a person']);
    later(24 * 60);
    assert.deepEqual(await tells(), ['Cloverleaf: case N, deposit late, is overdue']);
  });

  test('a claimed case is not reported as unclaimed, and a closed one not at all', async () => {
    await sets({ about: 'unclaimed' });
    await opens('deposit_late', 'deposit:6');
    await opens('deposit_late', 'deposit:7');
    await fixture.db.asSystem(async (tx) => {
      const now = fixture.clock.now();
      const [row] = await tx.rows<{ id: bigint }>(
        `select id from cases where subject = 'deposit:6' and closed_at is null`,
      );
      await assignCase(tx, { id: row?.id ?? 0n, to: 'ada', by: 'ada', why: 'mine', now });
      await closeCases(tx, { subject: 'deposit:7', outcome: 'gone', now });
    });
    assert.deepEqual(await tells(), []);
  });

  test('a case outside the hours is reported when they begin', async () => {
    const { hour } = hourIn('Asia/Kolkata', fixture.clock.now());
    await sets({ fromHour: (hour + 2) % 24, untilHour: (hour + 4) % 24, zone: 'Asia/Kolkata' });
    await opens('deposit_late', 'deposit:8');
    assert.deepEqual(await tells(), []);
    later(125);
    assert.equal((await tells()).length, 1);
  });

  test('a digest is sent once a day, at its hour', async () => {
    const { hour } = hourIn('UTC', fixture.clock.now());
    await sets({ name: 'morning', about: 'digest', fromHour: hour });
    await opens('deposit_late', 'deposit:10');
    assert.deepEqual(await tells(), ['Cloverleaf: 1 open case, 0 overdue']);
    assert.deepEqual(await tells(), []);
    later(24 * 60);
    assert.equal((await tells()).length, 1);
  });

  test('a rejected message is retried under its id, and finally given up', async () => {
    await sets({});
    await opens('payout_unknown', 'payout:2');
    const ids: string[] = [];
    says = ({ id }) => {
      ids.push(id);
      throw new Unavailable('test', 'it answered 503');
    };
    await tells();
    const [written] = await fixture.db.asSystem((tx) => alertMessages(tx, { limit: 1 }));
    assert.deepEqual([written?.attempts, written?.lastError, written?.sentAt], [1, 'test: it answered 503', null]);
    const id = String(written?.id);
    const pauses: unknown[] = [];
    for (let at = 1; at < 30; at += 1) pauses.push(await handlers().send_alert?.(id));
    assert.deepEqual(pauses.slice(0, 3), [{ againInMs: 60_000 }, { againInMs: 120_000 }, { againInMs: 240_000 }]);
    assert.equal(pauses.at(-1), undefined);
    const [failed] = await fixture.db.asSystem((tx) => alertMessages(tx, { limit: 1 }));
    assert.notEqual(failed?.failedAt, null);
    assert.equal(new Set(ids).size, 1, 'the attempts have different ids');
  });

  test('a rule that is replaced or removed says so on its own channel, at any hour', async () => {
    const hour = fixture.clock.now().getUTCHours();
    await sets({ name: 'night', fromHour: (hour + 2) % 24, untilHour: (hour + 3) % 24 });
    assert.deepEqual(await tells(), []);
    await sets({ name: 'night', about: 'unclaimed', afterMinutes: 40_000 });
    assert.deepEqual(await tells(), ['Cloverleaf: an alert rule was replaced']);
    await fixture.db.asSystem((tx) => removeAlertRule(tx, 'night', fixture.clock.now()));
    assert.deepEqual(await tells(), ['Cloverleaf: an alert rule was removed']);
  });

  test('a rule that cannot be is refused by its field', async () => {
    const refused = async (rule: Partial<RuleInput>, field: string) =>
      await assert.rejects(sets(rule), (error: unknown) => {
        assert.ok(error instanceof Refusal && field in (error.facts.fields as object), field);
        return true;
      });
    await refused({ channel: 'pigeon' }, 'channel');
    await refused({ kinds: ['nonsense'] }, 'kinds');
    await refused({ zone: 'Mars/Olympus' }, 'zone');
    await refused({ about: 'digest', kinds: ['payout_unknown'] }, 'about');
  });
});
