import { createHmac, timingSafeEqual } from 'node:crypto';

/** Names a command that a process sends on to the leader, which would else not know it again when it is sent anew. */
export const COMMAND_HEADER = 'varve-command';

/** Tells the processes of a log from everybody else, by the key that they share. */
export type CommandProof = {
  /** The header's value for a command. */
  sign(id: string): string;
  /** The command that a header names; undefined when no process of this log wrote it. */
  verify(header: string | readonly string[] | undefined): string | undefined;
};

/** `key`: see readAccessKey. */
export function createCommandProof(key: Buffer): CommandProof {
  const own = createHmac('sha256', key).update('forwarded commands').digest();
  const sealOf = (id: string) => createHmac('sha256', own).update(id).digest('base64url');
  return {
    sign: (id) => `${id}.${sealOf(id)}`,
    verify(header) {
      const [, id = '', seal = ''] = /^([\w-]{1,64})\.([\w-]{43})$/.exec(String(header)) ?? [];
      const isOurs = seal !== '' && timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(id)));
      return isOurs ? id : undefined;
    },
  };
}
