import { describeFaults } from './describe-faults.ts';
import { FILES } from './faults-of-files.ts';

await describeFaults('files', FILES, { hasSmallDisks: true });
