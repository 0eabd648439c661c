import { FULL_ACCESS } from '../../shared/access/rights.ts';
import type { AccessControl } from '../access/access-control.ts';
import { jwtSecret } from '../access/derived-keys.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { InFlight } from '../http/forwarding/forward-writes.ts';
import type { ServedApi } from '../http/served-api.ts';
import { type LoginPlan, openLogin } from '../login/open-login.ts';
import type { People } from '../login/people.ts';

export type DeferredLoginOptions = {
  readonly login?: LoginPlan | undefined;
  readonly key: Buffer;
  readonly access: AccessControl;
  readonly people: People;
  /** Address at which the process listens. */
  readonly address: string;
};

/** The parts of a process that are opened after it can identify users. */
type LaterParts = {
  readonly commands: CommandHandler;
  readonly forwarding: { readonly underWay: InFlight };
  readonly apiFor: ServedApi['apiFor'];
};

/**
 * Creates the login of a process, which can identify users before it can carry out commands; undefined without a plan. Before `with`,
 * requests that change something throw NotLeading.
 */
export function createDeferredLogin({ login: plan, key, access, people, address }: DeferredLoginOptions) {
  if (plan === undefined) return undefined;
  let parts: LaterParts | undefined;
  const opened = (): LaterParts => {
    if (parts === undefined) throw new NotLeading();
    return parts;
  };
  const api = openLogin({
    plan,
    people,
    url: address,
    ownSecret: jwtSecret(key),
    access: access.state,
    commands: { execute: async (command) => opened().commands.execute(command) },
    async present(user) {
      const body = await opened().apiFor(FULL_ACCESS).content.users.me(user, '');
      return body === undefined ? undefined : JSON.parse(Buffer.from(body).toString());
    },
    later(work) {
      const { underWay } = opened().forwarding;
      underWay.enter();
      setImmediate(() => {
        work()
          .catch((error: unknown) => plan.passwords?.mailFailed(error))
          .finally(underWay.leave);
      });
    },
  });
  return {
    api,
    with(given: LaterParts): void {
      parts = given;
    },
  };
}
