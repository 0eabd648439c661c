import { setTimeout as delay } from 'node:timers/promises';
import { describe, it, onTestFinished } from 'vitest';
import { type Member, startFleet } from '../support/fleet.ts';
import { checkFollowed, followFromNow } from '../support/follow-feed.ts';
import { pauseMember } from '../support/pause-member.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import {
  addWebhook,
  checkReceived,
  createEditWriter,
  startReceiverProcess,
} from '../support/webhook-edits.ts';

/** Number of kills of the server, and of its receiver. */
const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 4);
/** Number of times that the leader of two processes is killed, stopped or ended. */
const HAND_OVERS = Number(process.env['WEBHOOK_HAND_OVERS'] ?? 3);
/** Timeout. The start of a server takes seconds on a busy machine. */
const TIMEOUT_MS = 600_000 + KILLS * 20_000;
const RETRY = ['--webhook-retry', Array(200).fill('0.1').join(), '--webhook-hold', '3600'];

describe('webhooks over kill -9', takesMinutes('webhooks over kill -9'), () => {
  it(
    `loses none and keeps their order while the server and the receiver are killed ${KILLS} times`,
    async () => {
      const receiver = await startReceiverProcess();
      const data = createDataDirectory();
      let server = await startServer({ data, arguments: RETRY });
      onTestFinished(() => server.dispose());
      await addWebhook(server.url, receiver.url);
      const feed = await followFromNow(() => server.url);
      const writer = await createEditWriter(() => server.url);
      for (let kill = 0; kill < KILLS; kill++) {
        await writer.write(10);
        if (kill % 2 === 0) {
          const restart = async () => {
            await delay(Math.random() * 50);
            await server.stop('SIGKILL');
            server = await startServer({ data, arguments: RETRY });
          };
          await Promise.all([writer.write(5), restart()]);
        } else {
          receiver.kill();
          await writer.write(5);
          await receiver.start();
        }
      }
      await checkReceived(receiver, writer.written());
      await checkFollowed(feed, writer.written());
    },
    TIMEOUT_MS,
  );

  it(
    `passes deliveries from one leader to the next ${HAND_OVERS} times, also from one that is stopped`,
    async () => {
      const receiver = await startReceiverProcess();
      const fleet = await startFleet({ size: 2, arguments: RETRY });
      onTestFinished(fleet.dispose);
      await addWebhook((await fleet.leader()).server().url, receiver.url);
      let current = await fleet.leader();
      const feed = await followFromNow(() => current.server().url);
      const writer = await createEditWriter(() => current.server().url);
      const stops = ['SIGKILL', 'SIGSTOP', 'SIGTERM'] as const;
      for (let at = 0; at < HAND_OVERS; at++) {
        await writer.write(10);
        const leader = await fleet.leader();
        current = fleet.members.find((member) => member !== leader) as Member;
        const signal = stops[at % stops.length] ?? 'SIGKILL';
        // Deliveries are in flight. They fail, and both leaders send them.
        receiver.kill();
        const stop = () => (signal === 'SIGSTOP' ? pauseMember(fleet, leader) : leader.end(signal));
        await Promise.all([writer.write(5), stop()]);
        await receiver.start();
        await writer.write(5);
        if (signal === 'SIGSTOP') leader.server().signal('SIGCONT');
        else await leader.start();
      }
      await checkReceived(receiver, writer.written());
      await checkFollowed(feed, writer.written());
    },
    600_000 + HAND_OVERS * 60_000,
  );
});
