import './theme/styles.css';
import { createRoot } from 'react-dom/client';
import { followLinks, signInByLink } from './api/sign-in';
import { App } from './app';
import { startI18n } from './i18n';

const root = document.getElementById('root');
if (!root) throw new Error('The document has no place for the page');
startI18n();
followLinks();
const refusal = await signInByLink();
createRoot(root).render(<App refusal={refusal} />);
