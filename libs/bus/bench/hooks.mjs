import { registerHooks } from 'node:module';

/** Lets Node run the TypeScript sources: our files import each other as `.js`. */
registerHooks({
  resolve: (name, context, next) =>
    next(/^\.{1,2}\//.test(name) && context.parentURL?.endsWith('.ts') ? name.replace(/\.js$/, '.ts') : name, context),
});
