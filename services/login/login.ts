import type { LoginAction } from '../../shared/access/login-state.ts';
import { changePassword, resetPassword } from './change-password.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { confirmAddress, forgotPassword, sendConfirmation } from './mailed-codes.ts';
import { refresh, signOut } from './refresh.ts';
import { registerUser } from './register.ts';
import { signIn } from './sign-in.ts';
import type { SignedIn } from './signed-in.ts';

type Request = (options: LoginOptions, form: unknown, who: SignedIn | undefined) => Promise<LoginAnswer>;

/** Requests of Strapi's login, by Strapi's names of their actions. */
const REQUESTS = {
  'auth.callback': signIn,
  'auth.register': registerUser,
  'auth.forgotPassword': forgotPassword,
  'auth.resetPassword': resetPassword,
  'auth.changePassword': changePassword,
  'auth.emailConfirmation': confirmAddress,
  'auth.sendEmailConfirmation': sendConfirmation,
  'auth.refresh': refresh,
  'auth.logout': signOut,
} as const satisfies Partial<Record<LoginAction, Request>>;

export type LoginRequest = keyof typeof REQUESTS;

/** Runs a login request in the leader. Takes an unchecked body or query, and rejects with RequestError if it is wrong. */
export type Login = (request: LoginRequest, form: unknown, who: SignedIn | undefined) => Promise<LoginAnswer>;

/** Creates the login requests. */
export function createLogin(options: LoginOptions): Login {
  return (request, form, who) => REQUESTS[request](options, form, who);
}
