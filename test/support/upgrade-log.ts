import { upgradeLog } from '../../shared/event-store/sqlite/open-log.ts';

// Started by test/unit/log-upgrade.test.ts: upgrades a log, in a process that may be killed.
await upgradeLog(process.argv[2] ?? '');
