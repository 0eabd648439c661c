import { describeFaults } from './describe-faults.ts';
import { CHANGED_INDICES } from './faults-of-indices.ts';

await describeFaults('indices', CHANGED_INDICES);
