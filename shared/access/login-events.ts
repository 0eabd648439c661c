import type { Right } from './rights.ts';

/** The events of people who log in, in the access stream. Without `--login` they change nothing. */

/** A role as it is from here on, in place of the one of this number. */
export type RoleDefined = {
  readonly type: 'role-defined';
  readonly data: {
    /** Value of a user's `role`. */
    readonly id: number;
    /** Its key, such as `authenticated`. */
    readonly type: string;
    readonly name: string;
    readonly description: string;
    readonly allow: readonly Right[];
    /** The right to see drafts. */
    readonly drafts: boolean;
    /** Requests of the login that its users may make: `auth.changePassword`. */
    readonly login: readonly string[];
  };
};

/** How the login works from here on. What is absent stays as it was. */
export type LoginConfigured = {
  readonly type: 'login-configured';
  readonly data: { readonly switches?: LoginSwitches; readonly mails?: LoginMails };
};

/** In Strapi's words, as its setting `plugin_users-permissions_advanced` has them. */
export type LoginSwitches = {
  readonly allow_register: boolean;
  readonly email_confirmation: boolean;
  /** Target of the redirect after a confirmed address; null: `/`. */
  readonly email_confirmation_redirection: string | null;
  /** The page of the front end that takes the code of a forgotten password. */
  readonly email_reset_password: string | null;
  /** `type` of the role of people who register. */
  readonly default_role: string;
};

/** The text of a mail; `<%= URL %>`, `<%= TOKEN %>`, `<%= CODE %>` and `<%= USER.username %>` are filled in. */
export type MailTemplate = {
  readonly from: { readonly name: string; readonly email: string };
  readonly replyTo: string;
  readonly subject: string;
  readonly message: string;
};

export type LoginMails = { readonly resetPassword: MailTemplate; readonly confirmation: MailTemplate };

export type LoginEvent = RoleDefined | LoginConfigured;
