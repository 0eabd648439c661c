/** Loads the library, at the first password. */
export function argon2() {
  return import('@node-rs/argon2');
}

/** The same for the hashes of Strapi. */
export async function bcrypt() {
  return (await import('bcrypt')).default;
}
