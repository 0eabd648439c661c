import { describeFaults } from './describe-faults.ts';
import { DOCUMENTS } from './faults-of-documents.ts';

await describeFaults('documents', DOCUMENTS);
