import { RequestError } from '../../shared/request-error.ts';

/** The command was not carried out, because this process is not the leader. It may be sent to the leader, if there is one. */
export class NotLeading extends RequestError {
  constructor() {
    super('leader-changing', 'Another process is taking over the writes, try again');
  }
}
