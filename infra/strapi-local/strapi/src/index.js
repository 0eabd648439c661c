'use strict';
module.exports = {
  register() {},
  async bootstrap({ strapi }) {
    const locales = strapi.plugin('i18n').service('locales');
    for (const [code, name] of [['fr', 'French'], ['de', 'German']]) {
      if (!(await locales.findByCode(code))) await locales.create({ code, name });
    }
    const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type: 'public' } });
    const actions = [];
    for (const uid of Object.keys(strapi.contentTypes).filter((u) => u.startsWith('api::')))
      for (const a of ['find', 'findOne', 'create', 'update', 'delete']) actions.push(uid + '.' + a);
    for (const a of ['find', 'findOne', 'count', 'create', 'update', 'destroy']) actions.push('plugin::users-permissions.user.' + a);
    for (const a of ['find', 'findOne', 'upload', 'destroy']) actions.push('plugin::upload.content-api.' + a);
    actions.push('plugin::i18n.locales.listLocales');
    for (const action of actions) {
      const ex = await strapi.db.query('plugin::users-permissions.permission').findOne({ where: { action, role: role.id } });
      if (!ex) await strapi.db.query('plugin::users-permissions.permission').create({ data: { action, role: role.id } });
    }
    // Strapi's own form refuses addresses of this machine.
    if (process.env.WEBHOOK_URL) strapi.get('webhookRunner').add({
      id: 1, name: 'follower', url: process.env.WEBHOOK_URL, isEnabled: true,
      headers: { Authorization: `Bearer ${process.env.WEBHOOK_SECRET}` },
      events: [...['create', 'update', 'delete', 'publish', 'unpublish', 'draft-discard'].map((e) => `entry.${e}`), ...['create', 'update', 'delete'].map((e) => `media.${e}`)],
    });
  },
};
