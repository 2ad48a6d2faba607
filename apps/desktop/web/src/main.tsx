import './theme/styles.css';
import { createRoot } from 'react-dom/client';
import { arrive, followLinks } from './api/sign-in';
import { App } from './app';
import { startI18n } from './i18n';
import { fontsRead } from './theme/fonts-read';

const root = document.getElementById('root');
if (!root) throw new Error('The document has no place for the page');
const texts = startI18n();
followLinks();
const [refusal] = await Promise.all([arrive(), texts, fontsRead()]);
createRoot(root).render(<App refusal={refusal} />);
