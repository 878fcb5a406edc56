/** The default theme with the fonts of the system. */
import Theme from "vitepress/theme-without-fonts";
import "./home.css";
import "./style.css";

export default Theme;
