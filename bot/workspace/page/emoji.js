// Shortcodes that apps and people use most, as Unicode.
const NAMES = `
red_circle 🔴 large_orange_circle 🟠 large_yellow_circle 🟡 large_green_circle 🟢 large_blue_circle 🔵 large_purple_circle 🟣
white_circle ⚪ black_circle ⚫ large_red_square 🟥 large_orange_square 🟧 large_yellow_square 🟨 large_green_square 🟩
large_blue_square 🟦 white_large_square ⬜ black_large_square ⬛ warning ⚠️ rotating_light 🚨 fire 🔥 boom 💥 bomb 💣 skull 💀
white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌ negative_squared_cross_mark ❎ no_entry ⛔
no_entry_sign 🚫 octagonal_sign 🛑 stop_sign 🛑 question ❓ grey_question ❔ exclamation ❗ grey_exclamation ❕ bangbang ‼️
information_source ℹ️ bell 🔔 no_bell 🔕 mute 🔇 speaker 🔈 loud_sound 🔊 sound 🔉 mega 📣 loudspeaker 📢
chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 bar_chart 📊 clipboard 📋 memo 📝 pencil ✏️ pencil2 ✏️
page_facing_up 📄 page_with_curl 📃 scroll 📜 bookmark_tabs 📑 file_folder 📁 open_file_folder 📂 card_index_dividers 🗂️
wastebasket 🗑️ package 📦 floppy_disk 💾 cd 💿 minidisc 💽 computer 💻 desktop_computer 🖥️ keyboard ⌨️ electric_plug 🔌
battery 🔋 low_battery 🪫 satellite_antenna 📡 globe_with_meridians 🌐 link 🔗 paperclip 📎 pushpin 📌 round_pushpin 📍
mag 🔍 mag_right 🔎 lock 🔒 unlock 🔓 key 🔑 hammer 🔨 wrench 🔧 hammer_and_wrench 🛠️ gear ⚙️ nut_and_bolt 🔩
stethoscope 🩺 thermometer 🌡️ adhesive_bandage 🩹 ambulance 🚑 fire_engine 🚒 hourglass ⌛ hourglass_flowing_sand ⏳
stopwatch ⏱️ timer_clock ⏲️ alarm_clock ⏰ clock1 🕐 watch ⌚ calendar 📆 date 📅 zap ⚡ snowflake ❄️ sunny ☀️ cloud ☁️
rainbow 🌈 umbrella ☔ sleeping 😴 zzz 💤 rocket 🚀 airplane ✈️ checkered_flag 🏁 triangular_flag_on_post 🚩 white_flag 🏳️
construction 🚧 vertical_traffic_light 🚦 recycle ♻️ arrows_counterclockwise 🔄 repeat 🔁 arrow_forward ▶️ pause_button ⏸️
black_square_for_stop ⏹️ stop_button ⏹️ fast_forward ⏩ rewind ⏪ arrow_up ⬆️ arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️
arrow_up_small 🔼 arrow_down_small 🔽 arrow_heading_up ⤴️ arrow_heading_down ⤵️ small_red_triangle 🔺
small_red_triangle_down 🔻 small_blue_diamond 🔹 small_orange_diamond 🔸 diamond_shape_with_a_dot_inside 💠 heavy_plus_sign ➕
heavy_minus_sign ➖ heavy_multiplication_x ✖️ infinity ♾️ 1234 🔢 hash #️⃣ one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣
six 6️⃣ seven 7️⃣ eight 8️⃣ nine 9️⃣ zero 0️⃣ keycap_ten 🔟 100 💯 eyes 👀 eye 👁️ ear 👂 wave 👋 raised_hand ✋ ok_hand 👌
thumbsup 👍 +1 👍 thumbsdown 👎 -1 👎 clap 👏 pray 🙏 muscle 💪 point_up ☝️ point_right 👉 point_left 👈 point_down 👇
raised_hands 🙌 handshake 🤝 fingers_crossed 🤞 facepalm 🤦 shrug 🤷 smile 😄 smiley 😃 slightly_smiling_face 🙂 wink 😉
blush 😊 grin 😁 joy 😂 sweat_smile 😅 thinking_face 🤔 thinking 🤔 face_with_monocle 🧐 neutral_face 😐 expressionless 😑
confused 😕 worried 😟 cry 😢 sob 😭 scream 😱 fearful 😨 sweat 😓 tired_face 😫 exploding_head 🤯 sunglasses 😎 nerd_face 🤓
partying_face 🥳 robot_face 🤖 ghost 👻 turtle 🐢 snail 🐌 bug 🐛 beetle 🪲 ant 🐜 whale 🐳 owl 🦉 seedling 🌱 evergreen_tree 🌲
hot_pepper 🌶️ coffee ☕ beers 🍻 pizza 🍕 birthday 🎂 tada 🎉 confetti_ball 🎊 gift 🎁 trophy 🏆 medal 🏅 star ⭐ star2 🌟
sparkles ✨ dizzy 💫 heart ❤️ green_heart 💚 blue_heart 💙 purple_heart 💜 yellow_heart 💛 black_heart 🖤 broken_heart 💔
bulb 💡 flashlight 🔦 candle 🕯️ dart 🎯 game_die 🎲 jigsaw 🧩 telescope 🔭 microscope 🔬 test_tube 🧪 dna 🧬 brain 🧠
speech_balloon 💬 thought_balloon 💭 left_speech_bubble 🗨️ email ✉️ envelope ✉️ incoming_envelope 📨 inbox_tray 📥 outbox_tray 📤
mailbox 📫 phone ☎️ telephone_receiver 📞 bust_in_silhouette 👤 busts_in_silhouette 👥 female-technologist 👩‍💻
male-technologist 👨‍💻 technologist 🧑‍💻 shield 🛡️ crossed_swords ⚔️ moneybag 💰 money_with_wings 💸 ice_cube 🧊 ocean 🌊
droplet 💧 volcano 🌋 earth_africa 🌍 new 🆕 free 🆓 ok 🆗 sos 🆘 up 🆙 cool 🆒 id 🆔 vs 🆚 end 🔚 soon 🔜 top 🔝 back 🔙 on 🔛
`;

const words = NAMES.trim().split(/\s+/);
export const EMOJI = new Map();
for (let index = 0; index + 1 < words.length; index += 2) EMOJI.set(words[index], words[index + 1]);
