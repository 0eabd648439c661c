import { expect, it } from 'vitest';
import { hashPassword } from '../../services/command/password-hashes.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of passwords that are hashed at the same time. MOST_WAITING: that may wait for it. */
const AT_ONCE = 2;
const MOST_WAITING = 200;
const MORE = 10;

it(
  `refuses more than ${AT_ONCE + MOST_WAITING} passwords at a time with 503, and takes others later`,
  takesMinutes('200 passwords'),
  async () => {
    const hashing = Array.from({ length: AT_ONCE + MOST_WAITING + MORE }, (_, n) =>
      hashPassword(`p${n}`, 'argon2'),
    );
    const ended = await Promise.allSettled(hashing);
    const refused = ended.map((one) => (one.status === 'rejected' ? one.reason.code : undefined));
    expect(refused).toEqual([...Array(AT_ONCE + MOST_WAITING).fill(undefined), ...Array(MORE).fill('busy')]);
    expect(await hashPassword('later', 'argon2')).toMatch(/^\$argon2/);
  },
);
