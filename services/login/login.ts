import { changePassword, resetPassword } from './change-password.ts';
import type { LoginAnswer, LoginOptions } from './login-options.ts';
import { confirmAddress, forgotPassword, sendConfirmation } from './mailed-codes.ts';
import { refresh, signOut } from './refresh.ts';
import { registerUser } from './register.ts';
import { signIn } from './sign-in.ts';
import type { SignedIn } from './signed-in.ts';

/** Requests of Strapi's login, carried out by the leader. Each throws RequestError when it is refused. */
export type Login = {
  signIn(body: unknown): Promise<LoginAnswer>;
  register(body: unknown): Promise<LoginAnswer>;
  forgotPassword(body: unknown): Promise<LoginAnswer>;
  resetPassword(body: unknown): Promise<LoginAnswer>;
  changePassword(body: unknown, who: SignedIn | undefined): Promise<LoginAnswer>;
  confirmAddress(query: unknown): Promise<LoginAnswer>;
  sendConfirmation(body: unknown): Promise<LoginAnswer>;
  refresh(body: unknown): Promise<LoginAnswer>;
  signOut(body: unknown, who: SignedIn | undefined): Promise<LoginAnswer>;
};

/** Creates the flows. Each takes the body or query of its request as it came, and rejects with RequestError if it is wrong. */
export function createLogin(options: LoginOptions): Login {
  return {
    signIn: (body) => signIn(options, body),
    register: (body) => registerUser(options, body),
    forgotPassword: (body) => forgotPassword(options, body),
    resetPassword: (body) => resetPassword(options, body),
    changePassword: (body, who) => changePassword(options, body, who),
    confirmAddress: (query) => confirmAddress(options, query),
    sendConfirmation: (body) => sendConfirmation(options, body),
    refresh: (body) => refresh(options, body),
    signOut: (body, who) => signOut(options, body, who),
  };
}
