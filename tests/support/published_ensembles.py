"""Boosters as versions of XGBoost pickled them that are not installed here, and ensembles in the published layout."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

FORMER_PREDICTIONS = [
    91.0206527709961,
    89.6800308227539,
    91.25871276855469,
    90.7994613647461,
    89.23612976074219,
    90.92879486083984,
]
"""What both versions predict for :func:`former_rows`: three trees of depth two, which were fitted from 90 on."""

_FORMER_BOOSTERS = {
    "0.90": (
        "c-"
        "qz0&2J2090%~H+p1b`r4*&qTWzT|yF2?v&2*n4O}!j&*e0mm8f&F?eP^eM21y+%gfv2Ma}W^+L>d|gmZO9N5(kMJ2azUT4ld$lo_"
        "&70YxWPolT7yWJoDSxncsJ2cLytbkED{>Y|irbW=+G*1r5^;)^Y+B$KmqCr!vO&8wso5G<q_LLq-mjyHVwdyTrPJ2@*b3OZYKSB7"
        "hnR6_X@_a7%<RSt5)n5)n+5h+<m2vT#5J(@8$mlKhxK3ScHlMI9-"
        "KS)>qVlftMcMKFgH#at=Bf_Wq#8c2T3Ck3#8q@s}&#6nUCi%4NKks?@3ieiaWK*3Uy56eh?EGGrfOj5Ce6oiKqLJKL3m81w(k)mj"
        "oQWdNw`QRn_v4#|YLQ>%)1>q-"
        "!5Fmx2k|GF_q6kR^6@*DXL`Z%_Ndc@SsaQt}qRsf@_OS*I+qcj9ZSiV*@jxQ8ug`$io9s{bS?Ns9ogA=?glQ%Q+|apO)Udle!v6l"
        "KrB~BPt<9l7VH*1k)6AOHw4O>@reTPSuCO=f8CS4>V~F#ZSTg??I{VWe;=IJO?`CX}vAyj!2SqQd#@CoGYA4v6=(vaK?Dq}+q#^b"
        "X58cdH&@q3nHP;{3T#mYtcNcV*qweW5MUNiq>R_z1<H1l*;q%@qvp8d8{K>r^ZK8f}XG@H+YyAC@s&?1-6{vi8sP$3tiq7-"
        "q`cGPM-p5DY)wLJr_hV0=-O>M_JevN<!&6)v&qLPTDa#}EZIb59<9p|oyfcrnwo%QQ$Bk}HZ|peAMINJH-xm6L>C0ui|9SpuYn?a"
        "-dwy_-J%7pb#|HFb9$R?o+v$@2EBt%s!jgQ3`B+;>FV1WDjqdz^k%#R4W4-"
        "+Oc&wM_ajq<ni?>g$cjj@n>rL77k@S9k=*;7c)~#JSc{L{TXuNfx(BCI7n(X;?{xRB6=>ML&R(t+|H}F*ti+OyCUA$dWlE+Sdwrf"
        "{O|F83;7x~gW&S<YSXCKf$gxGfQxCkgI|D>R!@H-;Ee6b-uP3$sqR!`dAnXuB?3^s0d#cO{rXGC33U;0qm!luoY{YmdHEZ&0%"
    ),
    "1.0.2": (
        "c-rk)U2GIp6dqcBtNdsY6$NosY-"
        "L&Zx81E}x19=BP)z(uN)U&;vv+r=%+Ac2nJq1)Nqwl%K#0+RZ$219cu+!!5+9`UNCFRP;)98A@L&vy=z}i=@!UISf4Z%S4@M#3Ce"
        "3{3+;h)8zxUqlbh|!Y%G<W*M|9ie9jbub?Et0wZCEq~ZCxWP6-"
        "6m>=2u;=S**f6Xx|5myGGgsKMG3%5QC)wh{Lh~Bw%>}lCUBGDd-4558M-"
        "gUbr^^X;>M646GVymkOh>notbZ5Q@Wngc5K+p(Jz?O2Jw}J@5dbURXyc4G$8^z(WCwN8w>YF<4J14v!E@z@vncuz^qtHWKQA#|ZV"
        "pCPHa=oKOZr0ZK&S2|_V=l29C;B9ws5gp%+yp%iox>Va-Tz3>d7G;AT1fpCD5QP@f-"
        "1`$GWc$QECqJ)wVBb0(Tp&m#O>V+hsG^7Y+peI17DD)DFL7Gq;GK3P)M<@x;5lTTnpHn{mgoEX?ZTHAhWR{s#FgaxPeAO_0!}2=v"
        "6Fz6I%O*M?r@paTQHEaGz2n6fw%Wy_$NfG>tdipkHBD$y%lE$=Yv}9pQlAG^=JEn}UE8ghS<3q^=k5QKb^mk-"
        "+m<!a>D$1jTR4PW;za0BlxaoTKY(yr#By<+r{sj}68sYp?;<%|H+_qSm_Ii2+3X_HS>tV9=VaSj<j!9GFxS>1cj<C8mpQz1NKuA|"
        "zMj$KepjMvRYkd`Ui|XUej&eqxO-"
        "4hK2?7nUp&xO_aLbrn+bo@@aO||^SbNV25qWmuXYYJ=&uGZT|Se$bMmoiPCmLCym~$Yxij<fQM$1r+nSG?!ynJK=Hpubxom4bPVL"
        "F&HVjRwA|L1exFX|u;`fg*{<G>2FLw$Z%D1DhA^p8Ndw3$($j3`+>Bf6a@sFxEhc`Cm=a_n}zbDtAm#e4t%-"
        "#|C2x5OBH@`nF<mTt&{dxH~e)`>Qt@${*^QU?Jk&pa#zBM05vU{>8-uYxu<YU9<Wf|X#-)%zrr21=Sy^Q}`onfSZQP-"
        "<m&NuRLeen3{<xTl`T|K(<&8GODRPzy-ZO+G$?2p-n&Mq-"
        "l(AUn7a@{w^_;zAUhQx~{)E8<!qeEfA(oEa)G>5sY66%`_c{($>=GdNgkQ=44kLzNgsj113iPw_FT_IEA2n@Zkh+8a=tN6Hs{0g^"
        "xW@@9JZD}6T%rp)$-"
        ">@xI6~#SEPE|7sNNkM}<**XhJmU~22}?t+S0_g8e4X&iE@uUzT)aK)ist#uuPyaBFEl|74blvJ%rzS@h87iYiAGnl*UFcEaa`pE-"
        "lLT+D;VgPmJi;BG79o)(|ng1RwEQvwIT`A<fbMBq>6CJ!KfR$k5TUnv8r!NmaTJ)y?7BIx4?_6YWg@K^`Ze~Tlm7qnJ&0hM;Is8m"
        "t6axrrTzP9pG-*ajO<@%wx>qZ)DIBDuuvy5hRD}M$y1X)zuf7>G7uRCg<uBj2dor-gbPgz%7pp>00bsWSHrc8AV)YdYNmuih_izJ"
        "XUeAl=2fMALHf%e9JEI1=vlYra)>1!xfz%^De6w=crO^k1_PD>KImu?BTw&ERqt1$tsnaoiYH9Z5sN7OqAo74;r3`pJ9pOlDnYKm"
        "M5L{Mcv?}$tw8*BdeqZxRvHowaQ&8Y+TD5!oql}hiKGO#I5|gB=HN}^chw=cjhqB7_ppa+-"
        "9s^(SqUOzIr+ERG1Q#6POXbY?y`SE)UqAV;a6Z6lzLr%l2)HxA@o9Ezgf4_D@;tS|lCfNNLWoJYt#y;T_;U8pIvBK_nW_1S8Rylk"
        "G}Qd007EP@?g@vTe%lj>MyLhtw+#=h($n7W5f6ndjp<WpO`DUKqNNtmcEdp~FqIqUaB-&b!5Ww^(oQVin~|cd=H%@-"
        "iFMnrFDTC;o?lvKh2i4smVbrKF?&`ZbC)RTXkDmrXibI-q{xHSUap;mNwJm9FqYTvzxcApHgDUgM^#zeyH)h2Y-"
        "7Vzh4WzB$7G%F_k)kKt7=TWfDD91X|!O~Jqn4898Lh<MeKi!daAk_T?W^CPRo6!-"
        "kb`vJD^Y8zQoV_Wi?HjRqm!;W3;)qLbH?QfJ8"
    ),
}
"""Pickles of ``xgboost.core.Booster``, of protocol 3, as these versions wrote them."""


def former_booster(version: str) -> bytes:
    """The pickle of one booster, written by that version of XGBoost."""
    return zlib.decompress(base64.b85decode(_FORMER_BOOSTERS[version]))


def former_rows() -> np.ndarray:
    """Six rows of 56 features."""
    return np.array([[(5 * i * j + j * j + 3 * i) % 8 - 1 for j in range(56)] for i in range(6)], dtype=np.float32)


def write_ensemble(folder: Path, kind: str, models: Iterable[Any], *, seed: int = 7, **config: Any) -> Path:
    """A published ensemble: a folder for each member with its model, a pickle unless it is bytes, and two
    configurations."""
    for number, model in enumerate(models):
        member = folder / f"ensemble_member_{number}"
        member.mkdir(parents=True)
        data = model if isinstance(model, bytes) else pickle.dumps(model)
        (member / "surrogate_model.model").write_bytes(data)
        (member / "model_config.json").write_text(json.dumps({"model": kind, **config}))
        (member / "data_config.json").write_text(json.dumps({"seed": seed}))
    return folder
