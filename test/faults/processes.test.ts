import { describeFaults } from './describe-faults.ts';
import { ENDED_PROCESSES } from './faults-of-processes.ts';

await describeFaults('processes', ENDED_PROCESSES);
