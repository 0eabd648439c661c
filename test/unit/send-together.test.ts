import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSendTogether } from '../../services/http/answers/send-together.ts';
import { SLICE_OVER } from '../../shared/turns/slice.ts';
import { createTurns } from '../../shared/turns/turns.ts';

function createSender() {
  const sent: number[] = [];
  const time = { now: 5, isBusy: false };
  const sendTogether = createSendTogether(
    () => time.isBusy,
    () => time.now,
  );
  const send = (answer: number) => sendTogether(() => sent.push(answer));
  // Other messages follow soon after this one.
  send(-1);
  sent.length = 0;
  return { sent, time, sendTogether, send };
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

it('sends answers in order after the event loop has handled its input', async () => {
  const { sent, send } = createSender();
  for (const _ of [1, 2]) {
    sent.length = 0;
    for (const answer of upTo(3)) send(answer);
    await Promise.resolve();
    expect(sent).toEqual([]);
    await nextTurn();
    expect(sent).toEqual(upTo(3));
  }
});

it('sends eight at once, and those after them later', async () => {
  const { sent, send } = createSender();
  for (const answer of upTo(7)) send(answer);
  expect(sent).toEqual([]);
  for (const answer of [7, 8]) send(answer);
  expect(sent).toEqual(upTo(8));
  await nextTurn();
  expect(sent).toEqual(upTo(9));
});

it('sends an answer with the next one if it has waited for more than a millisecond', async () => {
  const { sent, time, send } = createSender();
  for (const _ of [1, 2]) {
    sent.length = 0;
    for (const answer of upTo(3)) {
      send(answer);
      time.now += 0.5;
    }
    expect(sent).toEqual([]);
    send(3);
    expect(sent).toEqual(upTo(4));
    await nextTurn();
    expect(sent).toEqual(upTo(4));
  }
});

it('sends an answer at once if no other answer was ready shortly before', () => {
  const { sent, time, send } = createSender();
  send(0);
  time.now += 1.1;
  send(1);
  expect(sent).toEqual([0, 1]);
  send(2);
  expect(sent).toEqual([0, 1]);
});

it('sends answers at once while other work waits for its turn', () => {
  const { sent, time, send } = createSender();
  send(0);
  time.isBusy = true;
  send(1);
  expect(sent).toEqual([0, 1]);
});

it('sends an answer before the next slice of a long one', async () => {
  const turns = createTurns();
  const order: string[] = [];
  const sendTogether = createSendTogether(turns.isWaiting, () => 5);
  sendTogether(() => {});
  const long = turns.run(turns.task(1_000), () => () => {
    order.push('slice');
    if (order.length < 5) throw SLICE_OVER;
  });
  expect(turns.isWaiting()).toBe(true);
  sendTogether(() => order.push('answer'));
  await long;
  expect(order).toEqual(['slice', 'answer', 'slice', 'slice', 'slice']);
  expect(turns.isWaiting()).toBe(false);
});

it('sends the others if one cannot be sent', () => {
  const { sent, sendTogether, send } = createSender();
  const fail = () => {
    throw new Error('not sent');
  };
  send(0);
  for (const _ of [1, 2]) sendTogether(fail);
  for (const answer of upTo(4)) send(answer);
  expect(() => send(4)).toThrow('not sent');
  expect(sent).toEqual([0, ...upTo(5)]);
});
