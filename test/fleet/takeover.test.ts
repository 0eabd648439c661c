import { describeTakeover } from './describe-takeover.ts';

describeTakeover('two servers on one SQLite log', 2, async () => ({ close: () => {} }));
