/** Loads the library, at the first password. */
export const argon2 = () => import('@node-rs/argon2');
export const bcrypt = async () => (await import('bcrypt')).default;
