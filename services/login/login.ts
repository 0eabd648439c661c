import { changePassword, resetPassword } from './change-password.ts';
import type { LoginOptions } from './login-options.ts';
import { confirmAddress, forgotPassword, sendConfirmation } from './mailed-codes.ts';
import { refresh, signOut } from './refresh.ts';
import { registerUser } from './register.ts';
import { signIn } from './sign-in.ts';
import type { SignedIn } from './signed-in.ts';

/** Requests of Strapi's login, which the leader runs. Each throws RequestError if it is refused. */
export type Login = ReturnType<typeof createLogin>;

/** Creates the login requests. Each takes an unchecked body or query, and rejects with RequestError if it is wrong. */
export function createLogin(options: LoginOptions) {
  return {
    signIn: (body: unknown) => signIn(options, body),
    register: (body: unknown) => registerUser(options, body),
    forgotPassword: (body: unknown) => forgotPassword(options, body),
    resetPassword: (body: unknown) => resetPassword(options, body),
    changePassword: (body: unknown, who: SignedIn | undefined) => changePassword(options, body, who),
    confirmAddress: (query: unknown) => confirmAddress(options, query),
    sendConfirmation: (body: unknown) => sendConfirmation(options, body),
    refresh: (body: unknown) => refresh(options, body),
    signOut: (body: unknown, who: SignedIn | undefined) => signOut(options, body, who),
  };
}
