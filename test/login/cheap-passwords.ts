import { createRequire } from 'node:module';

/** Loaded into a server before its own modules. Makes it hash passwords with the least work that the libraries allow. */
const require = createRequire(import.meta.url);
const bcrypt = require('bcrypt') as { hash: (password: string, cost: number) => Promise<string> };
const argon2 = require('@node-rs/argon2') as {
  hash: (password: string, options?: object) => Promise<string>;
};

const { hash: hashBcrypt } = bcrypt;
bcrypt.hash = (password) => hashBcrypt(password, 4);
const { hash: hashArgon2 } = argon2;
argon2.hash = (password) => hashArgon2(password, { memoryCost: 64, timeCost: 1 });
