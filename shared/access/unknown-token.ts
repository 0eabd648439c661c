/** Message of a 401. It is the same for a token that never existed, was revoked or has expired. */
export const UNKNOWN_TOKEN =
  'Missing or invalid credentials: this token is not known here. An operator can take over a token that clients have from Strapi with varve token create --token-stdin';
