import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EdgeRoute } from '../edge/edge-route.js';

interface Welcome {
  readonly lang: 'cs' | 'en';
  readonly lead: string;
  readonly steps: readonly string[];
}

const ENGLISH: Welcome = {
  lang: 'en',
  lead: 'This workspace is running.',
  steps: [
    '<a href="/app/">Open it in this browser</a>; <code>svc open</code> does so and signs you in.',
    'AI agents connect over MCP to <code>/mcp</code> on this address.',
    'Programs use the REST interface; <code>/openapi.json</code> describes it.',
    'Both need a bearer token: <code>svc token create --scope read --label "…"</code> makes one.',
    '<code>svc demo</code> fills an empty workspace with an invented organisation, <code>svc --help</code> lists all commands.',
  ],
};

const CZECH: Welcome = {
  lang: 'cs',
  lead: 'Tento pracovní prostor běží.',
  steps: [
    '<a href="/app/">Otevřete ho v tomto prohlížeči</a>; <code>svc open</code> vás i přihlásí.',
    'Agenti se připojují přes MCP na <code>/mcp</code> na této adrese.',
    'Programy používají rozhraní REST; popisuje je <code>/openapi.json</code>.',
    'Obojí potřebuje token: vytvoří ho <code>svc token create --scope read --label "…"</code>.',
    '<code>svc demo</code> naplní prázdný prostor vymyšlenou organizací, všechny příkazy vypíše <code>svc --help</code>.',
  ],
};

/** What a person sees who opens the address in a browser. It tells nothing of the workspace's content. */
@Controller()
export class WelcomeController {
  @Get()
  @EdgeRoute({ tier: 'public' })
  async get(@Headers('accept-language') languages: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    const welcome = prefersCzech(languages) ? CZECH : ENGLISH;
    await reply
      .header('vary', 'Accept-Encoding, Accept-Language, Origin')
      .type('text/html; charset=utf-8')
      .send(page(welcome));
  }
}

/** True when Czech stands before English, as browsers list languages by preference. */
function prefersCzech(languages = ''): boolean {
  const first = languages
    .split(',')
    .map((language) => language.trim().slice(0, 2).toLowerCase())
    .find((language) => language === 'cs' || language === 'en');
  return first === 'cs';
}

function page({ lang, lead, steps }: Welcome): string {
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Workspace Graph</title>
</head>
<body>
<main>
<h1>Workspace Graph</h1>
<p>${lead}</p>
<ul>
${steps.map((step) => `<li>${step}</li>`).join('\n')}
</ul>
</main>
</body>
</html>
`;
}
