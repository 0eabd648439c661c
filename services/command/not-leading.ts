import { RequestError } from '../../shared/request-error.ts';

/** The command was not carried out here, and cannot be: another process has the lead, or nobody has. The same command may be sent to it. */
export class NotLeading extends RequestError {
  constructor() {
    super(503, 'ServiceUnavailableError', 'Another process is taking over the writes, try again');
  }
}
