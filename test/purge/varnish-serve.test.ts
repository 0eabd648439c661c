import { type Member, startFleet } from '../support/fleet.ts';
import { describeBehindVarnish, purgeArguments } from './describe-behind-varnish.ts';

await describeBehindVarnish({
  name: 'two varve serve on one log',
  needs: async (options) => options,
  async start(port, env) {
    const fleet = await startFleet({ size: 2, ports: [port], arguments: purgeArguments(env) });
    const [behind, other] = fleet.members as [Member, Member];
    return { ...fleet, behind, other, keeping: async () => [await fleet.leader()], restMs: 0 };
  },
});
