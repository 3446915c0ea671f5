// The admin's colour scheme on pages outside its shell.
"use strict";

(() => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
        const chosen = JSON.parse(localStorage.getItem("adminTheme") || '"auto"');
        const isDark = chosen === "dark" || (chosen === "auto" && system.matches);
        // The second class is Swagger's.
        document.documentElement.classList.toggle("dark", isDark);
        document.documentElement.classList.toggle("dark-mode", isDark);
    };
    system.addEventListener("change", apply);
    apply();
})();
