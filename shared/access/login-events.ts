import type { Right } from './rights.ts';

/** Events in the access stream about people who log in. Without `--login` they change nothing. */

/** Defines a role from this event on, and replaces the role with the same number. */
export type RoleDefined = {
  readonly type: 'role-defined';
  readonly data: {
    /** Value of a user's `role`. */
    readonly id: number;
    /** Key of the role, such as `authenticated`. */
    readonly type: string;
    readonly name: string;
    readonly description: string;
    readonly allow: readonly Right[];
    /** The right to see drafts. */
    readonly drafts: boolean;
    /** The right to see earlier versions. */
    readonly history: boolean;
    /** Login requests that users with this role may make, such as `auth.changePassword`. */
    readonly login: readonly string[];
  };
};

/** Configures the login from this event on. Absent members keep their value. */
export type LoginConfigured = {
  readonly type: 'login-configured';
  readonly data: { readonly switches?: LoginSwitches; readonly mails?: LoginMails };
};

/** Settings of the login, with the names of Strapi's setting `plugin_users-permissions_advanced`. */
export type LoginSwitches = {
  readonly allow_register: boolean;
  readonly email_confirmation: boolean;
  /** Target of the redirect after an address is confirmed; null: `/`. */
  readonly email_confirmation_redirection: string | null;
  /** Page of the front end that accepts the code for a forgotten password. */
  readonly email_reset_password: string | null;
  /** `type` of the role that new users get when they register. */
  readonly default_role: string;
};

/** Text of a mail. `<%= URL %>`, `<%= TOKEN %>`, `<%= CODE %>` and `<%= USER.username %>` are replaced. */
export type MailTemplate = {
  readonly from: { readonly name: string; readonly email: string };
  readonly replyTo: string;
  readonly subject: string;
  readonly message: string;
};

export type LoginMails = { readonly resetPassword: MailTemplate; readonly confirmation: MailTemplate };

export type LoginEvent = RoleDefined | LoginConfigured;
