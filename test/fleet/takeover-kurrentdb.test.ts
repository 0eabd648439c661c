import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { realServerUrl } from '../support/kurrentdb/real-server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeTakeover } from './describe-takeover.ts';

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
const real = realServerUrl();

describeTakeover(
  `two servers on one log ${real === undefined ? 'behind the gRPC double of KurrentDB' : 'on a real KurrentDB'}`,
  1,
  async () => {
    if (real !== undefined) {
      const space = `takeover_${process.pid}_${Date.now()}`;
      const args = ['--access-key', ACCESS_KEY, '--space', space];
      return { eventStore: real, space, arguments: args, close: () => undefined };
    }
    const double = await startKurrentDbDouble({ server: '26.1' });
    return { eventStore: double.url, arguments: ['--access-key', ACCESS_KEY], close: double.stop };
  },
  real === undefined ? takesMinutes('takeovers behind the gRPC double') : {},
);
