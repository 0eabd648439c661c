/** Loads the library, at the first password. */
export function argon2() {
  return import('@node-rs/argon2');
}

/** Loads the library for Strapi's hashes, at the first password. */
export async function bcrypt() {
  return (await import('bcrypt')).default;
}
