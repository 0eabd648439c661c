import { becomeWorker, connectSupervisor } from '../../services/supervisor/connect-supervisor.ts';

/** A worker that cannot step down and continues to serve. */
becomeWorker();
const supervisor = await connectSupervisor();
supervisor.onYield(async () => {
  throw new Error('the log cannot be written');
});
supervisor.serving({ logLevel: 'silent', logFormat: 'json' }, 0);
