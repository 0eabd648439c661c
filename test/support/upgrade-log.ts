import { upgradeLog } from '../../shared/event-store/sqlite/open-log.ts';

// A program that test/unit/log-upgrade.test.ts starts and kills: it upgrades a log.
await upgradeLog(process.argv[2] ?? '');
