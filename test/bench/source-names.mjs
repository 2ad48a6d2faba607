import { registerHooks } from 'node:module';

/** Node strips the types of these sources by itself but needs their real names: they import each other as `.js`. */
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier.startsWith('.') && context.parentURL?.endsWith('.ts') ? specifier.replace(/\.js$/, '.ts') : specifier,
      context,
    ),
});
