import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeTakeover } from './describe-takeover.ts';

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

describeTakeover(
  'two servers on one log behind the gRPC double of KurrentDB',
  1,
  async () => {
    const double = await startKurrentDbDouble();
    return { eventStore: double.url, arguments: ['--access-key', ACCESS_KEY], close: double.stop };
  },
  takesMinutes('takeovers behind the gRPC double'),
);
