import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeTakeover } from './describe-takeover.ts';

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

/** By the log's order alone, and by the condition that KurrentDB 26.1 and later check. */
for (const appendRecords of [false, true]) {
  describeTakeover(
    `two servers on one log behind the gRPC double of KurrentDB ${appendRecords ? '26.1' : '25.1'}`,
    1,
    async () => {
      const double = await startKurrentDbDouble({ appendRecords });
      return { eventStore: double.url, arguments: ['--access-key', ACCESS_KEY], close: double.stop };
    },
    takesMinutes('takeovers behind the gRPC double'),
  );
}
